"""Who may use queues: stored policies, shared access signatures, bearer tokens, user delegation."""

from azure.core.credentials import AzureSasCredential
from azure.storage.queue import (
    AccessPolicy,
    AccountSasPermissions,
    QueueSasPermissions,
    ResourceTypes,
    generate_account_sas,
    generate_queue_sas,
)

from harness import done, feature, fresh, rows
from storage import ACCOUNT, KEY, WRONG_KEY, hence, refused

FOREVER = "9999-12-31T00:00:00Z"
MISMATCH = (403, "AuthorizationPermissionMismatch")


async def filled(storage):
    queue = await storage.queue()
    await done(queue.send_message("moon"))
    return queue


async def with_sas(storage, queue, token):
    return (await storage.client("queue", AzureSasCredential(token))).get_queue_client(queue.queue_name)


async def shared(storage, queue, permission=None, account_key=KEY, **given):
    """The queue with a signature of its own."""
    given = {"expiry": hence(hours=1)} | given
    return await with_sas(storage, queue, generate_queue_sas(ACCOUNT, queue.queue_name, account_key, permission, **given))


async def of_account(storage, permission, resources, **given):
    token = generate_account_sas(ACCOUNT, KEY, resources, permission, **({"expiry": hence(hours=1)} | given))
    return await storage.client("queue", AzureSasCredential(token))


@feature("queues.access.policies")
async def test_policies_are_kept_replaced_and_cleared(storage):
    queue = await storage.queue()
    assert await done(queue.get_queue_access_policy()) == {}
    start, expiry = hence(hours=-1).replace(microsecond=0), hence(hours=1).replace(microsecond=0)
    policy = AccessPolicy(start=start, expiry=expiry, permission=QueueSasPermissions.from_string("raup"))
    await done(queue.set_queue_access_policy({"all": policy, "empty": AccessPolicy()}))
    found = await done(queue.get_queue_access_policy())
    assert sorted(found) == ["all", "empty"]
    said = [time.strftime("%Y-%m-%dT%H:%M:%SZ") for time in (start, expiry)]
    assert [found["all"].start, found["all"].expiry, found["all"].permission] == [*said, "raup"]
    await done(queue.set_queue_access_policy({"other": AccessPolicy(permission="r", expiry=FOREVER)}))
    found = await done(queue.get_queue_access_policy())
    assert (list(found), found["other"].permission) == (["other"], "r")
    await done(queue.set_queue_access_policy({}))
    assert await done(queue.get_queue_access_policy()) == {}


@feature("queues.access.policies")
async def test_there_are_at_most_five_policies(storage):
    queue = await storage.queue()
    policies = {str(n): AccessPolicy(permission="r", expiry=FOREVER) for n in range(6)}
    assert await refused(lambda: queue.set_queue_access_policy(policies)) == (400, "InvalidXmlDocument")
    policies.pop("5")
    await done(queue.set_queue_access_policy(policies))
    assert sorted(await done(queue.get_queue_access_policy())) == list("01234")


@feature("queues.access.queue_sas")
async def test_a_signature_allows_what_it_names(storage):
    queue = await storage.queue(metadata={"a": "1"})
    adder = await shared(storage, queue, "a")
    await done(adder.send_message("moon"))
    reader = await shared(storage, queue, QueueSasPermissions(read=True))
    assert [message.content for message in await done(reader.peek_messages())] == ["moon"]
    assert (await done(reader.get_queue_properties())).metadata == {"a": "1"}
    processor = await shared(storage, queue, "p")
    found = await done(processor.receive_message())
    updater = await shared(storage, queue, "u")
    found = await done(updater.update_message(found, content="sun", visibility_timeout=60))
    await done(processor.delete_message(found))
    assert (await done(queue.get_queue_properties())).approximate_message_count == 0


@feature("queues.access.queue_sas")
async def test_a_signature_allows_nothing_else(storage):
    queue, other = await filled(storage), await filled(storage)
    reader = await shared(storage, queue, "r")
    assert await refused(lambda: reader.send_message("x")) == MISMATCH
    assert await refused(reader.receive_message) == MISMATCH
    assert (await refused(reader.get_queue_access_policy))[0] == 403
    assert (await refused(lambda: reader.set_queue_metadata({"a": "1"})))[0] == 403
    assert (await refused(reader.delete_queue))[0] == 403
    adder = await shared(storage, queue, "a")
    assert await refused(adder.peek_messages) == MISMATCH
    assert await refused(adder.receive_message) == MISMATCH
    sent = await done(adder.send_message("x"))
    assert await refused(lambda: adder.delete_message(sent)) == MISMATCH
    assert await refused(lambda: adder.update_message(sent, content="y")) == MISMATCH
    token = generate_queue_sas(ACCOUNT, queue.queue_name, KEY, "raup", hence(hours=1))
    elsewhere = await with_sas(storage, other, token)
    assert (await refused(elsewhere.peek_messages))[0] == 403


@feature("queues.access.sas_refused")
async def test_a_signature_that_is_over_early_forged_or_changed_is_refused(storage):
    queue = await filled(storage)
    failed = (403, "AuthenticationFailed")
    over = await shared(storage, queue, "r", expiry=hence(hours=-1))
    assert await refused(over.peek_messages) == failed
    early = await shared(storage, queue, "r", start=hence(hours=1), expiry=hence(hours=2))
    assert await refused(early.peek_messages) == failed
    forged = await shared(storage, queue, "r", WRONG_KEY)
    assert await refused(forged.peek_messages) == failed
    token = generate_queue_sas(ACCOUNT, queue.queue_name, KEY, "r", hence(hours=1)).replace("sp=r", "sp=rp")
    changed = await with_sas(storage, queue, token)
    assert await refused(changed.receive_message) == failed


@feature("queues.access.sas_refused")
async def test_a_signature_for_another_transport_or_address_is_refused(storage):
    queue = await filled(storage)
    secure = await shared(storage, queue, "r", protocol="https")
    if storage.transport == "http":
        assert await refused(secure.peek_messages) == (403, "AuthorizationProtocolMismatch")
    else:
        assert len(await done(secure.peek_messages())) == 1
    here = await shared(storage, queue, "r", ip="127.0.0.0-127.0.0.255")
    assert len(await done(here.peek_messages())) == 1
    away = await shared(storage, queue, "r", ip="168.1.5.60-168.1.5.70")
    assert await refused(away.peek_messages) == (403, "AuthorizationSourceIPMismatch")


@feature("queues.access.sas_policy")
async def test_a_signature_of_a_policy_goes_with_the_policy(storage):
    queue = await filled(storage)
    policy = lambda permission, **time: {"p": AccessPolicy(permission=permission, expiry=hence(**time))}  # noqa: E731
    await done(queue.set_queue_access_policy(policy("r", hours=1)))
    mine = await shared(storage, queue, policy_id="p", expiry=None)
    assert len(await done(mine.peek_messages())) == 1
    assert await refused(lambda: mine.send_message("x")) == MISMATCH
    await done(queue.set_queue_access_policy(policy("ra", hours=1)))
    await done(mine.send_message("x"))
    await done(queue.set_queue_access_policy(policy("ra", hours=-1)))
    assert (await refused(mine.peek_messages))[0] == 403
    await done(queue.set_queue_access_policy({}))
    assert (await refused(mine.peek_messages))[0] == 403


@feature("queues.access.account_sas")
async def test_a_signature_of_the_account_makes_queues_and_uses_them(storage):
    everything = AccountSasPermissions.from_string("rwdlacup")
    client = await of_account(storage, everything, ResourceTypes.from_string("sco"))
    queue = await done(client.create_queue(fresh("queue")))
    await done(queue.send_message("moon"))
    await done(queue.set_queue_metadata({"a": "1"}))
    assert [message.content for message in await done(queue.peek_messages())] == ["moon"]
    found = await done(queue.receive_message())
    found = await done(queue.update_message(found, content="sun", visibility_timeout=60))
    await done(queue.delete_message(found))
    await done(queue.clear_messages())
    assert len(await rows(client.list_queues(name_starts_with=queue.queue_name))) == 1
    await done(client.delete_queue(queue.queue_name))


@feature("queues.access.account_sas")
async def test_a_signature_of_the_account_allows_nothing_else(storage):
    queue = await filled(storage)
    reader = await of_account(storage, AccountSasPermissions(read=True, list=True), ResourceTypes.from_string("sco"))
    mine = reader.get_queue_client(queue.queue_name)
    assert len(await done(mine.peek_messages())) == 1
    assert await refused(lambda: mine.send_message("x")) == MISMATCH
    assert await refused(lambda: reader.create_queue(fresh("queue"))) == MISMATCH
    services = await of_account(storage, AccountSasPermissions(read=True), ResourceTypes(service=True))
    mine = services.get_queue_client(queue.queue_name)
    assert await refused(mine.peek_messages) == (403, "AuthorizationResourceTypeMismatch")
    blobs = await of_account(storage, AccountSasPermissions(read=True), ResourceTypes.from_string("sco"), services="b")
    mine = blobs.get_queue_client(queue.queue_name)
    assert await refused(mine.peek_messages) == (403, "AuthorizationServiceMismatch")


async def by_role(storage, queue, role):
    return (await storage.with_token("queue", "--role", role)).get_queue_client(queue.queue_name)


@feature("queues.access.bearer")
async def test_a_role_allows_what_it_is_for(storage):
    queue = await filled(storage)
    reader = await by_role(storage, queue, "Storage Queue Data Reader")
    assert len(await done(reader.peek_messages())) == 1
    assert await refused(lambda: reader.send_message("x")) == MISMATCH
    assert await refused(reader.receive_message) == MISMATCH
    sender = await by_role(storage, queue, "Storage Queue Data Message Sender")
    await done(sender.send_message("sun"))
    assert await refused(sender.peek_messages) == MISMATCH
    assert await refused(sender.receive_message) == MISMATCH
    processor = await by_role(storage, queue, "Storage Queue Data Message Processor")
    found = await done(processor.receive_message())
    await done(processor.delete_message(found))
    assert len(await done(processor.peek_messages())) == 1
    assert await refused(lambda: processor.send_message("x")) == MISMATCH


@feature("queues.access.bearer")
async def test_a_contributor_makes_queues_and_uses_them(storage):
    client = await storage.with_token("queue", "--role", "Storage Queue Data Contributor")
    queue = await done(client.create_queue(fresh("queue")))
    await done(queue.send_message("moon"))
    found = await done(queue.receive_message())
    await done(queue.delete_message(await done(queue.update_message(found, content="sun"))))
    await done(queue.clear_messages())
    await done(client.delete_queue(queue.queue_name))


@feature("queues.access.bearer")
async def test_a_token_without_a_role_or_for_somebody_else_is_refused(storage):
    queue = await filled(storage)
    mine = (await storage.with_token("queue")).get_queue_client(queue.queue_name)
    assert await refused(mine.peek_messages) == MISMATCH
    tables = await by_role(storage, queue, "Storage Table Data Contributor")
    assert await refused(tables.peek_messages) == MISMATCH
    role = ("--role", "Storage Queue Data Contributor")
    foreign = await storage.with_token("queue", *role, "--audience", "https://graph.microsoft.com")
    assert (await refused(foreign.get_queue_client(queue.queue_name).peek_messages))[0] == 401


@feature("queues.access.delegation")
async def test_a_user_signs_by_a_key_of_the_service(storage):
    queue = await filled(storage)
    client = await storage.with_token("queue", "--role", "Storage Queue Data Contributor")
    given = await done(client.get_user_delegation_key(start=hence(hours=-1), expiry=hence(hours=1)))
    mine = await shared(storage, queue, "r", None, user_delegation_key=given)
    assert len(await done(mine.peek_messages())) == 1
    assert await refused(lambda: mine.send_message("x")) == MISMATCH
    given.value = KEY
    forged = await shared(storage, queue, "r", None, user_delegation_key=given)
    assert await refused(forged.peek_messages) == (403, "AuthenticationFailed")
