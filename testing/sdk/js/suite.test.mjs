// Every file of facts in one process, so that they share one server.

import "./facts/account.mjs";
import "./facts/databases.mjs";
import "./facts/containers.mjs";
import "./facts/schemas.mjs";
import "./facts/throughput.mjs";
import "./facts/throttling.mjs";
import "./facts/items.mjs";
import "./facts/item_keys.mjs";
import "./facts/patches.mjs";
import "./facts/batches.mjs";
import "./facts/etags.mjs";
import "./facts/ttl.mjs";
import "./facts/feeds.mjs";
import "./facts/change_feed.mjs";
import "./facts/change_feed_processor.mjs";
import "./facts/session.mjs";
import "./facts/consistency.mjs";
import "./facts/queries.mjs";
import "./facts/cross_partition.mjs";
import "./facts/indexing.mjs";
import "./facts/script_runs.mjs";
import "./facts/script_resources.mjs";
import "./facts/access.mjs";
import "./facts/bearer.mjs";
import "./facts/seeds.mjs";
import "./facts/service_notifications.mjs";
