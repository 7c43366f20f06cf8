// The blueprints as the facts see them: stood up by the SDK alone, filled with their items, asked their queries.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { fresh } from "./harness.mjs";

export const NAMES = ["project-ascension", "agent-studio", "asora-notifications", "copilot"];
const FOLDER = new URL("../../../blueprints/", import.meta.url);
const DESIGNS = new Map(NAMES.map((name) => [name, parse(readFileSync(new URL(`${name}.yaml`, FOLDER), "utf8"))]));

export function blueprint(name) {
  return DESIGNS.get(name);
}

/** The blueprint's database under a name of its own, with its containers by id. */
export async function standUp(cosmos, name, environment) {
  const design = blueprint(name);
  const asked = { id: fresh(design.database), ...throughput(design, environment) };
  const { database } = await cosmos.client.databases.create(asked);
  const containers = {};
  for (const each of design.containers) {
    const { id, partitionKey, indexingPolicy, defaultTtl, uniqueKeys } = each;
    const uniqueKeyPolicy = uniqueKeys && { uniqueKeys: uniqueKeys.map((paths) => ({ paths })) };
    const options = { id, partitionKey, indexingPolicy, defaultTtl, uniqueKeyPolicy, ...throughput(each, environment) };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    containers[id] = (await database.containers.create(given)).container;
  }
  return { database, containers };
}

export async function filled(cosmos, name) {
  const { database, containers } = await standUp(cosmos, name);
  for (const { id, fixtures } of blueprint(name).containers) {
    for (const item of fixtures) await containers[id].items.create(item);
  }
  return { database, containers };
}

/** The rows of a named query, with its example parameters unless others are given, and the indexes it used. */
export async function ask(name, containers, query, given = {}) {
  const asked = blueprint(name).queries[query];
  const values = Object.entries(asked.parameters).map(([key, { example }]) => [key, given[key] ?? example]);
  const parameters = values.map(([key, value]) => ({ name: `@${key}`, value }));
  const scope = asked.partitionKey ? { partitionKey: Object.fromEntries(values)[asked.partitionKey] } : {};
  const iterator = containers[asked.container].items.query(
    { query: asked.sql, parameters },
    { populateIndexMetrics: true, ...scope },
  );
  const { resources, indexMetrics } = await iterator.fetchAll();
  return { rows: resources, metrics: indexMetrics ? JSON.parse(indexMetrics) : undefined };
}

/** The composite indexes that an answer names, spelled as blueprints spell them. */
export function composites(metrics) {
  return metrics.Utilized.CompositeIndexes.map(({ IndexSpecs }) => IndexSpecs);
}

function throughput(design, environment) {
  const asked = design.environments?.[environment];
  if (asked?.autoscale) return { maxThroughput: asked.autoscale };
  return asked?.manual ? { throughput: asked.manual } : {};
}
