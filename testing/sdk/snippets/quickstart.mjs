import { CosmosClient } from "@azure/cosmos";

const endpoint = process.env.COSMOS_ENDPOINT ?? "http://localhost:8081";
const key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

const client = new CosmosClient({ endpoint, key });
const { database } = await client.databases.createIfNotExists({ id: "observatory" });
const { container: planets } = await database.containers.createIfNotExists({ id: "planets", partitionKey: "/system" });

await planets.items.upsert({ id: "saturn", system: "sol", moons: 274 });
const { resource: saturn } = await planets.item("saturn", "sol").read();
console.log(saturn.moons, "moons");
