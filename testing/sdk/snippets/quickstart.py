import os
from azure.cosmos import CosmosClient, PartitionKey

endpoint = os.environ.get("COSMOS_ENDPOINT", "http://localhost:8081")
key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

client = CosmosClient(endpoint, key)
database = client.create_database_if_not_exists("observatory")
planets = database.create_container_if_not_exists("planets", PartitionKey("/system"))

planets.upsert_item({"id": "saturn", "system": "sol", "moons": 274})
print(planets.read_item("saturn", partition_key="sol")["moons"], "moons")
