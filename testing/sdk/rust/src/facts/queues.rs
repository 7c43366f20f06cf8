//! The queue service and its queues: properties of the service, create, metadata, list, delete.

use super::{Outcome, facts};
use crate::cosmos::{Cosmos, fresh};
use crate::queues::{Queues, code, create, map, peeked, properties, receive, refused, send};
use azure_storage_queue::models::{
    CorsRule, GeoReplicationStatus, ListQueuesIncludeType, Logging, Metrics,
    QueueServiceClientListQueuesOptions, QueueServiceProperties, RetentionPolicy,
};
use futures::TryStreamExt;

facts! { Running:
    "queues.properties" => what_is_not_set_stays_as_it_was,
    "queues.cors" => rules_are_kept_and_there_are_at_most_five,
    "queues.stats" => the_replica_tells_that_it_lives,
    "queues.create" => a_queue_is_created_with_its_metadata,
    "queues.again" => a_second_queue_of_a_name_is_refused_only_with_other_metadata,
    "queues.names" => names_are_lower_case_digits_and_single_hyphens,
    "queues.metadata" => metadata_is_replaced_as_a_whole,
    "queues.list" => queues_are_listed_by_prefix_and_pages,
    "queues.delete" => a_queue_is_deleted_with_its_messages_and_made_again,
    "queues.not_found" => what_is_not_there_is_not_found,
}

fn days(days: i32) -> Option<RetentionPolicy> {
    Some(RetentionPolicy { enabled: Some(true), days: Some(days) })
}

fn metrics(retention: Option<RetentionPolicy>) -> Option<Metrics> {
    let retention_policy = retention.or(Some(RetentionPolicy { enabled: Some(false), days: None }));
    Some(Metrics {
        version: Some("1.0".into()),
        enabled: Some(true),
        include_apis: Some(true),
        retention_policy,
    })
}

async fn what_is_not_set_stays_as_it_was(cosmos: Cosmos) -> Outcome {
    let service = Queues::of(&cosmos).service()?;
    let logging = Logging {
        version: Some("1.0".into()),
        read: Some(true),
        write: Some(false),
        delete: Some(true),
        retention_policy: days(5),
    };
    let first = QueueServiceProperties {
        logging: Some(logging),
        hour_metrics: metrics(days(7)),
        ..Default::default()
    };
    service.set_properties(first.try_into()?, None).await?;
    let second = QueueServiceProperties { minute_metrics: metrics(None), ..Default::default() };
    service.set_properties(second.try_into()?, None).await?;
    let found = service.get_properties(None).await?.into_model()?;
    let logging = found.logging.ok_or("no logging")?;
    assert_eq!((logging.read, logging.write, logging.delete), (Some(true), Some(false), Some(true)));
    assert_eq!(logging.retention_policy.and_then(|policy| policy.days), Some(5));
    let hour = found.hour_metrics.ok_or("no metrics of hours")?;
    assert_eq!((hour.enabled, hour.retention_policy.and_then(|policy| policy.days)), (Some(true), Some(7)));
    let minute = found.minute_metrics.ok_or("no metrics of minutes")?;
    assert_eq!(
        (minute.enabled, minute.retention_policy.and_then(|policy| policy.enabled)),
        (Some(true), Some(false))
    );
    Ok(())
}

async fn rules_are_kept_and_there_are_at_most_five(cosmos: Cosmos) -> Outcome {
    let service = Queues::of(&cosmos).service()?;
    let rule = || CorsRule {
        allowed_origins: Some("http://one.example,http://two.example".into()),
        allowed_methods: Some("GET,PUT".into()),
        allowed_headers: Some("x-ms-meta-*,accept".into()),
        exposed_headers: Some("x-ms-*".into()),
        max_age_in_seconds: Some(200),
    };
    let rules = |count| QueueServiceProperties {
        cors: Some((0..count).map(|_| rule()).collect()),
        ..Default::default()
    };
    service.set_properties(rules(1).try_into()?, None).await?;
    let found = service.get_properties(None).await?.into_model()?.cors.unwrap_or_default();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].allowed_origins, rule().allowed_origins);
    assert_eq!(found[0].max_age_in_seconds, Some(200));
    assert_eq!(refused(service.set_properties(rules(6).try_into()?, None).await).0, 400);
    service.set_properties(rules(0).try_into()?, None).await?;
    let found = service.get_properties(None).await?.into_model()?.cors.unwrap_or_default();
    assert!(found.is_empty());
    Ok(())
}

async fn the_replica_tells_that_it_lives(cosmos: Cosmos) -> Outcome {
    let stats = Queues::of(&cosmos).replica()?.get_statistics(None).await?.into_model()?;
    let replication = stats.geo_replication.ok_or("no replication")?;
    assert!(matches!(replication.status, Some(GeoReplicationStatus::Live)));
    assert!(replication.last_sync_time.is_some());
    Ok(())
}

async fn a_queue_is_created_with_its_metadata(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue_with_metadata(&[("kind", "test")]).await?;
    assert_eq!(properties(&queue).await?, (map(&[("kind", "test")]), 0));
    assert!(queue.exists().await?);
    Ok(())
}

async fn a_second_queue_of_a_name_is_refused_only_with_other_metadata(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue_with_metadata(&[("a", "1")]).await?;
    assert_eq!(u16::from(create(&queue, &[("a", "1")]).await?.status()), 204);
    assert_eq!(refused(create(&queue, &[("a", "2")]).await), code(409, "QueueAlreadyExists"));
    assert_eq!(refused(create(&queue, &[]).await), code(409, "QueueAlreadyExists"));
    Ok(())
}

async fn names_are_lower_case_digits_and_single_hyphens(cosmos: Cosmos) -> Outcome {
    let service = Queues::of(&cosmos).service()?;
    for wrong in ["Upper", "two--hyphens", "-first", "last-", "under_score"] {
        let outcome = create(&service.queue_client(wrong)?, &[]).await;
        assert_eq!(refused(outcome), code(400, "InvalidResourceName"), "{wrong}");
    }
    for wrong in ["ab".to_owned(), "a".repeat(64)] {
        let outcome = create(&service.queue_client(&wrong)?, &[]).await;
        assert_eq!(refused(outcome), code(400, "OutOfRangeInput"), "{wrong}");
    }
    Ok(())
}

async fn metadata_is_replaced_as_a_whole(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue_with_metadata(&[("a", "1"), ("b", "2")]).await?;
    queue.set_metadata(&map(&[("c", "it's = & y")]), None).await?;
    assert_eq!(properties(&queue).await?.0, map(&[("c", "it's = & y")]));
    queue.set_metadata(&map(&[]), None).await?;
    assert_eq!(properties(&queue).await?.0, map(&[]));
    Ok(())
}

async fn queues_are_listed_by_prefix_and_pages(cosmos: Cosmos) -> Outcome {
    let service = Queues::of(&cosmos).service()?;
    let prefix = format!("{}-", fresh("listed"));
    let names: Vec<String> = ["a", "b", "c"].map(|letter| format!("{prefix}{letter}")).into();
    for name in &names {
        create(&service.queue_client(name)?, &[("kind", "listed")]).await?;
    }
    let options = QueueServiceClientListQueuesOptions {
        prefix: Some(prefix),
        maxresults: Some(2),
        include: Some(vec![ListQueuesIncludeType::Metadata]),
        ..Default::default()
    };
    let listed: Vec<_> = service.list_queues(Some(options))?.try_collect().await?;
    assert_eq!(listed.iter().filter_map(|queue| queue.name.clone()).collect::<Vec<_>>(), names);
    assert!(listed.iter().all(|queue| queue.metadata == Some(map(&[("kind", "listed")]))));
    Ok(())
}

async fn a_queue_is_deleted_with_its_messages_and_made_again(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["moon"]).await?;
    queue.delete(None).await?;
    assert!(!queue.exists().await?);
    create(&queue, &[]).await?;
    assert_eq!(properties(&queue).await?, (map(&[]), 0));
    Ok(())
}

async fn what_is_not_there_is_not_found(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).service()?.queue_client(&fresh("nowhere"))?;
    let gone = code(404, "QueueNotFound");
    assert_eq!(refused(queue.delete(None).await), gone);
    assert_eq!(refused(queue.get_properties(None).await), gone);
    assert_eq!(refused(queue.clear(None).await), gone);
    assert_eq!(refused(send(&queue, "moon", None).await), gone);
    assert_eq!(refused(peeked(&queue).await), gone);
    assert_eq!(refused(receive(&queue, 1, 30).await), gone);
    Ok(())
}
