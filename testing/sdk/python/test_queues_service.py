"""The queue service and its queues: who connects, properties of the service, create, metadata, list, delete."""

from azure.storage.queue import CorsRule, Metrics, QueueAnalyticsLogging, RetentionPolicy

from harness import done, feature, fresh, pages, rows
from storage import ACCOUNT, WRONG_KEY, key, preflight, refused


async def names(feed):
    return [queue.name for queue in await rows(feed)]


@feature("queues.connect")
async def test_a_client_of_the_connection_string_works(storage):
    client = await storage.connected("queue")
    queue = await done(client.create_queue(fresh("queue")))
    await done(queue.send_message("moon"))
    assert (await done(queue.receive_message())).content == "moon"


@feature("queues.bad_key")
async def test_a_wrong_key_is_refused(storage):
    client = await storage.client("queue", key(WRONG_KEY))
    assert await refused(lambda: client.create_queue(fresh("queue"))) == (403, "AuthenticationFailed")
    assert await refused(lambda: rows(client.list_queues())) == (403, "AuthenticationFailed")


@feature("queues.stats")
async def test_the_replica_tells_that_it_lives(storage):
    replica = storage.endpoint("queue", account=f"{ACCOUNT}-secondary").partition("://")[2]
    client = await storage.client("queue", secondary_hostname=replica)
    stats = await done(client.get_service_stats())
    assert stats["geo_replication"]["status"] == "live"
    assert stats["geo_replication"]["last_sync_time"] is not None


@feature("queues.properties")
async def test_what_is_not_set_stays_as_it_was(storage):
    client = storage.queues
    await done(client.set_service_properties(
        analytics_logging=QueueAnalyticsLogging(read=True, delete=True, retention_policy=RetentionPolicy(True, 5)),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(True, 7)),
        minute_metrics=Metrics(enabled=False),
    ))  # fmt: skip
    await done(client.set_service_properties(minute_metrics=Metrics(enabled=True, include_apis=False)))
    found = await done(client.get_service_properties())
    logging, hour, minute = found["analytics_logging"], found["hour_metrics"], found["minute_metrics"]
    assert (logging.read, logging.write, logging.delete) == (True, False, True)
    assert (logging.retention_policy.enabled, logging.retention_policy.days) == (True, 5)
    assert (hour.enabled, hour.include_apis, hour.retention_policy.days) == (True, True, 7)
    assert (minute.enabled, minute.include_apis, minute.retention_policy.enabled) == (True, False, False)


@feature("queues.cors")
async def test_rules_are_kept_and_answer_preflights(storage):
    client, url = storage.queues, storage.endpoint("queue", "http") + "/somewhere/messages"
    rule = CorsRule(
        ["http://one.example", "http://two.example"], ["GET", "PUT"],
        allowed_headers=["x-ms-meta-*", "accept"], exposed_headers=["x-ms-*"], max_age_in_seconds=200,
    )  # fmt: skip
    await done(client.set_service_properties(cors=[rule]))
    (found,) = (await done(client.get_service_properties()))["cors"]
    assert found.allowed_origins == rule.allowed_origins
    assert found.allowed_methods == rule.allowed_methods
    assert found.allowed_headers == rule.allowed_headers
    assert found.exposed_headers == rule.exposed_headers
    assert found.max_age_in_seconds == 200
    status, headers = preflight(url, "http://two.example", "PUT", "x-ms-meta-name")
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, "http://two.example")
    assert headers["Access-Control-Max-Age"] == "200"
    assert preflight(url, "http://three.example", "PUT")[0] == 403
    assert preflight(url, "http://one.example", "DELETE")[0] == 403
    await done(client.set_service_properties(cors=[]))
    assert (await done(client.get_service_properties()))["cors"] == []
    assert preflight(url, "http://one.example", "GET")[0] == 403


@feature("queues.cors")
async def test_there_are_at_most_five_rules(storage):
    rules = [CorsRule([f"http://{n}.example"], ["GET"]) for n in range(6)]
    assert (await refused(lambda: storage.queues.set_service_properties(cors=rules)))[0] == 400


@feature("queues.create")
async def test_a_queue_is_created_with_its_metadata(storage):
    queue = await done(storage.queues.create_queue(fresh("queue"), metadata={"Kind": "test", "a_b": "2"}))
    found = await done(queue.get_queue_properties())
    assert (found.name, found.metadata, found.approximate_message_count) == (queue.queue_name, {"Kind": "test", "a_b": "2"}, 0)
    alone = storage.queues.get_queue_client(fresh("queue"))
    await done(alone.create_queue())
    assert (await done(alone.get_queue_properties())).metadata == {}


@feature("queues.again")
async def test_a_second_queue_of_a_name_is_refused_only_with_other_metadata(storage):
    queue = await done(storage.queues.create_queue(fresh("queue"), metadata={"a": "1"}))
    # The service says 204 then, which this SDK makes an error of.
    assert await refused(lambda: queue.create_queue(metadata={"a": "1"})) == (204, "QueueAlreadyExists")
    assert await refused(lambda: queue.create_queue(metadata={"a": "2"})) == (409, "QueueAlreadyExists")
    assert await refused(queue.create_queue) == (409, "QueueAlreadyExists")
    assert (await done(queue.get_queue_properties())).metadata == {"a": "1"}


@feature("queues.names")
async def test_names_of_queues_are_lower_case_digits_and_single_hyphens(storage):
    for wrong in ("Upper", "two--hyphens", "-first", "last-", "under_score"):
        assert await refused(lambda: storage.queues.create_queue(wrong)) == (400, "InvalidResourceName"), wrong  # noqa: B023
    for wrong in ("ab", "a" * 64):
        assert await refused(lambda: storage.queues.create_queue(wrong)) == (400, "OutOfRangeInput"), wrong  # noqa: B023
    longest = fresh("q").ljust(63, "x")
    await done(storage.queues.create_queue(longest))
    await done(storage.queues.delete_queue(longest))


@feature("queues.metadata")
async def test_metadata_is_replaced_as_a_whole(storage):
    queue = await done(storage.queues.create_queue(fresh("queue"), metadata={"a": "1", "b": "2"}))
    await done(queue.set_queue_metadata({"MixedCase": "x", "b_1": "it's = & y"}))
    assert (await done(queue.get_queue_properties())).metadata == {"MixedCase": "x", "b_1": "it's = & y"}
    await done(queue.set_queue_metadata({}))
    assert (await done(queue.get_queue_properties())).metadata == {}


@feature("queues.metadata")
async def test_names_of_metadata_are_identifiers_and_not_too_long(storage):
    queue = await storage.queue()
    assert (await refused(lambda: queue.set_queue_metadata({"1a": "x"})))[0] == 400
    assert (await refused(lambda: queue.set_queue_metadata({"a": "x" * 9000})))[0] == 400


@feature("queues.list")
async def test_queues_are_listed_by_prefix_and_pages(storage):
    prefix = fresh("listed")
    made = [f"{prefix}-{letter}" for letter in "abcde"]
    for name in made:
        await done(storage.queues.create_queue(name, metadata={"Letter": name[-1]}))
    found, _ = await pages(storage.queues.list_queues(name_starts_with=prefix + "-", results_per_page=2))
    assert [[queue.name for queue in page] for page in found] == [made[:2], made[2:4], made[4:]]
    found = await rows(storage.queues.list_queues(name_starts_with=prefix + "-", include_metadata=True))
    assert [queue.metadata for queue in found] == [{"Letter": letter} for letter in "abcde"]
    assert await names(storage.queues.list_queues(name_starts_with=prefix + "-none")) == []
    assert set(made) <= set(await names(storage.queues.list_queues()))


@feature("queues.list")
async def test_a_list_goes_on_from_its_token(storage):
    prefix = fresh("token")
    for letter in "abc":
        await done(storage.queues.create_queue(f"{prefix}-{letter}"))
    asked = {"name_starts_with": prefix + "-", "results_per_page": 1}
    first, token = await pages(storage.queues.list_queues(**asked), limit=1)
    rest, _ = await pages(storage.queues.list_queues(**asked), token)
    assert [queue.name for page in first + rest for queue in page] == [f"{prefix}-{letter}" for letter in "abc"]


@feature("queues.delete")
async def test_a_queue_is_deleted_with_its_messages_and_made_again(storage):
    queue = await storage.queue(metadata={"a": "1"})
    await done(queue.send_message("moon"))
    await done(storage.queues.delete_queue(queue.queue_name))
    assert await names(storage.queues.list_queues(name_starts_with=queue.queue_name)) == []
    await done(queue.create_queue())
    assert await done(queue.receive_message()) is None
    assert (await done(queue.get_queue_properties())).metadata == {}


@feature("queues.not_found")
async def test_what_is_not_there_is_not_found(storage):
    queue = storage.queues.get_queue_client(fresh("nowhere"))
    calls = (
        queue.delete_queue, queue.get_queue_properties, queue.receive_message, queue.peek_messages, queue.clear_messages,
        queue.get_queue_access_policy, lambda: queue.send_message("moon"), lambda: queue.set_queue_metadata({"a": "1"}),
        lambda: queue.delete_message("c9da6455-213d-42c9-9a79-3e9149a57833", "AgAAAAMAAAAAAAAAAAAAAAAAAAA="),
    )  # fmt: skip
    for call in calls:
        assert await refused(call) == (404, "QueueNotFound")
