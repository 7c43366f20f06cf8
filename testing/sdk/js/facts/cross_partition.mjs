// Queries over several partitions: the server leaves merging to the SDK, as the service does.

import assert from "node:assert/strict";
import { fact } from "../harness.mjs";
import { MATRIX, assertRows, filled } from "../matrix.mjs";

const FEATURE = "queries.cross_partition";

for (const ranges of ["one", "four"]) {
  fact(FEATURE, `the greatest of nothing on ${ranges}`, async (cosmos) => {
    const container = await filled(cosmos, ranges);
    const { resources } = await container.items.query("SELECT VALUE MAX(c.n) FROM c WHERE c.none = 1").fetchAll();
    assert.deepEqual(resources, []);
  });

  fact(FEATURE, `aggregates without VALUE by the SDK's own plan on ${ranges}`, async (cosmos) => {
    const container = await filled(cosmos, ranges);
    const { resources: items } = await container.items.query("SELECT * FROM c").fetchAll();
    const { resources } = await container.items.query("SELECT COUNT(1) AS k FROM c").fetchAll();
    assert.deepEqual(resources, [{ k: items.length }]);
  });

  fact(FEATURE, `an ordered answer is resumed by the pipeline's token on ${ranges}`, async (cosmos) => {
    const container = await filled(cosmos, ranges);
    for (const entry of MATRIX.paging.filter(({ name }) => ["everything_by_id", "everything_by_id_descending"].includes(name))) {
      const found = [];
      let continuationToken;
      do {
        const options = { enableQueryControl: true, maxItemCount: 7, continuationToken };
        const page = await container.items.query(entry.query, options).fetchNext();
        found.push(page.resources ?? []);
        continuationToken = page.continuationToken;
      } while (continuationToken);
      assert(found.length > 2, `${found.length} pages`);
      assertRows(entry, found.flat(), `resumed on ${ranges} ranges`);
    }
  });
}

fact(FEATURE, "each range is a page and its token is JSON", async (cosmos) => {
  const container = await filled(cosmos, "four");
  const feed = container.items.query("SELECT * FROM c");
  const shapes = [];
  let pages = 0;
  while (feed.hasMoreResults()) {
    const { resources, continuationToken } = await feed.fetchNext();
    pages += resources?.length ? 1 : 0;
    if (continuationToken) shapes.push(JSON.parse(continuationToken));
  }
  assert.equal(pages, 4);
  assert.deepEqual(Object.keys(shapes[0]).sort(), ["range", "token"]);
  assert(Array.isArray(shapes[1]));
});
