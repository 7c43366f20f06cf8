import os
from azure.data.tables import TableServiceClient
from azure.storage.queue import QueueServiceClient

connection = os.environ.get("STORAGE_CONNECTION", (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
))

orders = TableServiceClient.from_connection_string(connection).create_table_if_not_exists("orders")
orders.upsert_entity({"PartitionKey": "ann", "RowKey": "1", "total": 42})

queues = QueueServiceClient.from_connection_string(connection)
jobs = queues.get_queue_client("jobs")
if "jobs" not in [queue.name for queue in queues.list_queues()]:
    jobs.create_queue()
jobs.send_message("ship order 1 of ann")

for job in jobs.receive_messages():
    print(job.content, orders.get_entity("ann", "1")["total"])
    jobs.delete_message(job)
