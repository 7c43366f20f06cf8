// Queries: every one of the matrix, on one range and on four, in pages of several sizes, and by the client's plans.

import assert from "node:assert/strict";
import { fact, factOn } from "../harness.mjs";
import { GROUPS, MATRIX, asked, assertRows, filled, scope } from "../matrix.mjs";

const PAGE_SIZES = [undefined, 1, 7];

/** What the SDK's pipeline cannot merge, and tokens that it does not give, are asked of a server that merges itself. */
const factDirect = (...rest) => factOn(["--cross-partition", "direct"], ...rest);

for (const group of GROUPS) {
  for (const entry of MATRIX[group]) {
    const register = entry.scope === "cross" && entry.skip?.javascript_plan ? factDirect : fact;
    register(`queries.${group}`, `${group} ${entry.name}`, async (cosmos) => {
      for (const [ranges, maxItemCount] of runs(cosmos)) {
        const container = await filled(cosmos, ranges);
        const found = await pages(container.items.query(asked(entry), { maxItemCount, ...scope(entry) }));
        assert(found.every((page) => page.length <= (maxItemCount ?? Infinity)), `a page is above ${maxItemCount}`);
        assertRows(entry, found.flat(), `${ranges} ranges, pages of ${maxItemCount}`);
      }
    });
  }
}

/** Every container and page size over http; once over https, which differs in little. */
function runs({ transport }) {
  if (transport === "https") return [["four", 7]];
  return ["one", "four"].flatMap((ranges) => PAGE_SIZES.map((size) => [ranges, size]));
}

for (const entry of MATRIX.paging) {
  factDirect("queries.resume", `each page of ${entry.name} is found by its token alone`, async (cosmos) => {
    for (const ranges of ["one", "four"]) {
      const container = await filled(cosmos, ranges);
      const found = [];
      let continuationToken;
      do {
        const options = { maxItemCount: 7, continuationToken, ...scope(entry) };
        const page = await container.items.query(asked(entry), options).fetchNext();
        found.push(page.resources ?? []);
        continuationToken = page.continuationToken;
      } while (continuationToken);
      assertRows(entry, found.flat(), `${ranges} ranges, page by page`);
    }
  });
}

// The SDK asks the server for a plan, sends the rewritten query to each range, and merges the answers itself. One
// partition has no plan: the pipeline would ask its whole range.
for (const group of GROUPS) {
  for (const entry of MATRIX[group].filter(({ scope, skip }) => scope === "cross" && !skip?.javascript_plan)) {
    fact("queries.plans", `${group} ${entry.name} by a plan`, async (cosmos) => {
      const container = await filled(cosmos, "four");
      for (const maxItemCount of cosmos.transport === "http" ? [undefined, 7] : [undefined]) {
        const options = { forceQueryPlan: true, maxItemCount };
        const { resources } = await container.items.query(asked(entry), options).fetchAll();
        assertRows(entry, resources, `by a plan, pages of ${maxItemCount}`);
      }
    });
  }
}

fact("queries.rank", "the words of a phrase are scored separately", async (cosmos) => {
  const container = await cosmos.container();
  const texts = { none: "Kingdom of Norway", one: "United Kingdom", both: "The United States" };
  for (const [id, text] of Object.entries(texts)) await container.items.create({ id, pk: "p", text });
  const query = "SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'United States')";
  const { resources } = await container.items.query(query, { partitionKey: "p" }).fetchAll();
  assert.deepEqual(resources, ["both", "one", "none"]);
});

async function pages(feed) {
  const found = [];
  while (feed.hasMoreResults()) found.push((await feed.fetchNext()).resources ?? []);
  return found;
}
