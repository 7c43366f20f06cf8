"""Containers and blobs, as `azure-storage-blob` sees them."""

import hashlib
import os
import urllib.error
import urllib.request

import pytest
from azure.core import MatchConditions
from azure.storage.blob import (
    AccessPolicy,
    AccountSasPermissions,
    BlobBlock,
    BlobSasPermissions,
    ContainerSasPermissions,
    ContentSettings,
    CorsRule,
    ResourceTypes,
    RetentionPolicy,
    StaticWebsite,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)

from harness import done, feature, fresh, rows
from storage import ACCOUNT, KEY, WRONG_KEY, hence, key, refused


async def content(blob, **options):
    return await done((await done(blob.download_blob(**options))).readall())


async def uploaded(storage, data=b"moon", **options):
    container = await storage.container()
    blob = container.get_blob_client("dir/a.txt")
    await done(blob.upload_blob(data, **options))
    return blob


@feature("blobs.connect")
async def test_a_client_of_the_connection_string_works(storage):
    client = await storage.connected("blob")
    container = await done(client.create_container(fresh("container")))
    await done(container.upload_blob("a", b"moon"))
    assert await content(container.get_blob_client("a")) == b"moon"


@feature("blobs.bad_key")
async def test_a_wrong_key_is_refused(storage):
    client = await storage.client("blob", key(WRONG_KEY))
    assert await refused(lambda: client.create_container(fresh("container"))) == (403, "AuthenticationFailed")


@feature("blobs.properties")
async def test_properties_of_the_service_are_kept(storage):
    website = StaticWebsite(enabled=True, index_document="index.html", error_document404_path="404.html")
    rule = CorsRule(["https://a.example"], ["GET"], max_age_in_seconds=60)
    await done(storage.blobs.set_service_properties(static_website=website, cors=[rule]))
    found = await done(storage.blobs.get_service_properties())
    assert (found["static_website"].index_document, found["cors"][0].allowed_origins) == ("index.html", "https://a.example")
    await done(storage.blobs.set_service_properties(static_website=StaticWebsite(enabled=False), cors=[]))
    assert (await done(storage.blobs.get_service_properties()))["static_website"].enabled is False


@feature("blobs.containers")
async def test_containers_have_metadata_policies_and_an_end(storage):
    name = fresh("container")
    container = await done(storage.blobs.create_container(name, metadata={"Owner": "ann"}))
    assert await refused(lambda: storage.blobs.create_container(name)) == (409, "ContainerAlreadyExists")
    assert (await done(container.get_container_properties())).metadata == {"Owner": "ann"}
    listed = await rows(storage.blobs.list_containers(name_starts_with=name, include_metadata=True))
    assert [(each.name, each.metadata) for each in listed] == [(name, {"Owner": "ann"})]
    await done(container.set_container_access_policy({"p": AccessPolicy(permission="r", expiry=hence(hours=1))}))
    policies = await done(container.get_container_access_policy())
    assert [each.id for each in policies["signed_identifiers"]] == ["p"]
    await done(container.delete_container())
    assert await refused(container.get_container_properties) == (404, "ContainerNotFound")


@feature("blobs.containers.leases")
async def test_a_leased_container_is_kept(storage):
    container = await storage.container()
    lease = await done(container.acquire_lease(15))
    assert await refused(container.delete_container) == (412, "LeaseIdMissing")
    await done(container.delete_container(lease=lease))


@feature("blobs.public")
async def test_a_public_container_is_read_by_everybody(storage):
    container = await storage.container(public_access="blob")
    blob = container.get_blob_client("a")
    await done(blob.upload_blob(b"moon"))
    if storage.transport == "http":
        assert urllib.request.urlopen(blob.url, timeout=30).read() == b"moon"
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{container.url}?restype=container&comp=list", timeout=30)


@feature("blobs.put")
async def test_a_blob_is_as_it_was_uploaded(storage):
    settings = ContentSettings(content_type="text/plain", cache_control="no-store", content_language="de")
    blob = await uploaded(storage, metadata={"Kind": "note"}, tags={"status": "new 1"}, content_settings=settings)
    assert await content(blob) == b"moon"
    found = await done(blob.get_blob_properties())
    assert (found.size, found.metadata, found.tag_count, found.blob_type) == (4, {"Kind": "note"}, 1, "BlockBlob")
    given = found.content_settings
    assert (given.content_type, given.cache_control, given.content_language) == ("text/plain", "no-store", "de")
    assert bytes(given.content_md5) == hashlib.md5(b"moon").digest()


@feature("blobs.overwrite")
async def test_a_blob_is_overwritten_on_request_only(storage):
    blob = await uploaded(storage)
    assert await refused(lambda: blob.upload_blob(b"sun")) == (409, "BlobAlreadyExists")
    await done(blob.upload_blob(b"sun", overwrite=True))
    assert await content(blob) == b"sun"


@feature("blobs.parallel")
async def test_large_content_goes_in_parallel(storage):
    data = os.urandom(9 * 1024 * 1024 + 17)
    container = await storage.container()
    sizes = {"max_single_put_size": 1 << 20, "max_block_size": 1 << 20, "max_single_get_size": 1 << 20, "max_chunk_get_size": 1 << 20}
    client = await storage.client("blob", **sizes)
    blob = client.get_blob_client(container.container_name, "large")
    await done(blob.upload_blob(data, max_concurrency=4))
    assert hashlib.md5(await content(blob, max_concurrency=4)).digest() == hashlib.md5(data).digest()
    assert await content(blob, offset=5_000_001, length=1000) == data[5_000_001:5_001_001]


@feature("blobs.ranges")
async def test_ranges_are_cut_at_the_end(storage):
    blob = await uploaded(storage, b"0123456789")
    assert await content(blob, offset=3, length=4) == b"3456"
    assert await content(blob, offset=8, length=100) == b"89"
    assert await refused(lambda: blob.download_blob(offset=10, length=1)) == (416, "InvalidRange")
    await done(blob.upload_blob(b"", overwrite=True))
    assert await content(blob) == b""


@feature("blobs.blocks")
async def test_blocks_wait_until_they_are_committed(storage):
    blob = (await storage.container()).get_blob_client("a")
    await done(blob.stage_block("AAAA", b"1" * 100))
    await done(blob.stage_block("BBBB", b"2" * 50))
    assert await refused(lambda: blob.stage_block("A", b"x")) == (400, "InvalidBlobOrBlock")
    assert await refused(blob.get_blob_properties) == (404, "BlobNotFound")
    await done(blob.commit_block_list([BlobBlock("BBBB"), BlobBlock("AAAA")]))
    committed, waiting = await done(blob.get_block_list("all"))
    assert ([each.size for each in committed], waiting) == ([50, 100], [])
    assert await content(blob) == b"2" * 50 + b"1" * 100
    assert await refused(lambda: blob.commit_block_list([BlobBlock("CCCC")])) == (400, "InvalidBlockList")


@feature("blobs.conditions")
async def test_conditions_decide(storage):
    blob = await uploaded(storage, tags={"status": "new"})
    etag = (await done(blob.get_blob_properties())).etag
    changed = {"etag": etag, "match_condition": MatchConditions.IfModified}
    assert (await refused(lambda: blob.download_blob(**changed)))[0] == 304
    wrong = {"etag": '"0x0000000000000001"', "match_condition": MatchConditions.IfNotModified}
    assert await refused(lambda: blob.set_blob_metadata({"a": "b"}, **wrong)) == (412, "ConditionNotMet")
    assert await refused(lambda: blob.delete_blob(if_unmodified_since=hence(days=-1))) == (412, "ConditionNotMet")
    assert await refused(lambda: blob.delete_blob(if_tags_match_condition="\"status\"='old'")) == (412, "ConditionNotMet")
    await done(blob.delete_blob(if_tags_match_condition="\"status\"='new'"))


@feature("blobs.hashes")
async def test_what_its_md5_does_not_say_is_refused(storage):
    blob = (await storage.container()).get_blob_client("a")
    headers = {"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}
    assert await refused(lambda: blob.upload_blob(b"moon", headers=headers)) == (400, "Md5Mismatch")
    assert await refused(blob.get_blob_properties) == (404, "BlobNotFound")
    await done(blob.upload_blob(b"moon", validate_content=True))
    assert await content(blob, validate_content=True) == b"moon"


@feature("blobs.append")
async def test_appended_blocks_follow_each_other(storage):
    blob = (await storage.container()).get_blob_client("log")
    await done(blob.create_append_blob())
    await done(blob.append_block(b"one\n"))
    found = await done(blob.append_block(b"two\n", appendpos_condition=4))
    assert (found["blob_append_offset"], found["blob_committed_block_count"]) == ("4", 2)
    wrong = await refused(lambda: blob.append_block(b"x", appendpos_condition=4))
    assert wrong == (412, "AppendPositionConditionNotMet")
    await done(blob.seal_append_blob())
    assert await refused(lambda: blob.append_block(b"x")) == (409, "BlobIsSealed")
    assert await content(blob) == b"one\ntwo\n"


@feature("blobs.pages")
async def test_pages_are_written_and_cleared(storage):
    blob = (await storage.container()).get_blob_client("disk")
    await done(blob.create_page_blob(4096))
    await done(blob.upload_page(b"x" * 1024, 512, 1024))
    await done(blob.clear_page(1024, 512))
    ranges, _ = await done(blob.get_page_ranges())
    assert ranges == [{"start": 512, "end": 1023}]
    assert await content(blob) == b"\0" * 512 + b"x" * 512 + b"\0" * 3072
    await done(blob.resize_blob(1024))
    assert (await done(blob.get_blob_properties())).size == 1024
    assert (await refused(lambda: blob.upload_page(b"x" * 512, 1024, 512)))[0] == 416


@feature("blobs.lists")
async def test_lists_go_by_names(storage):
    container = await storage.container()
    for name in ("a/1", "a/2", "b", "c/1"):
        await done(container.upload_blob(name, b"x"))
    assert [each.name for each in await rows(container.list_blobs())] == ["a/1", "a/2", "b", "c/1"]
    assert [each.name for each in await rows(container.list_blobs(name_starts_with="a/"))] == ["a/1", "a/2"]
    assert [each.name for each in await rows(container.list_blobs(results_per_page=1))] == ["a/1", "a/2", "b", "c/1"]
    assert sorted(each.name for each in await rows(container.walk_blobs())) == ["a/", "b", "c/"]


@feature("blobs.metadata")
async def test_metadata_and_headers_are_replaced(storage):
    blob = await uploaded(storage, metadata={"a": "1"})
    await done(blob.set_blob_metadata({"b": "2"}))
    await done(blob.set_http_headers(ContentSettings(content_type="text/html")))
    found = await done(blob.get_blob_properties())
    assert (found.metadata, found.content_settings.content_type) == ({"b": "2"}, "text/html")
    assert found.content_settings.content_md5 is None


@feature("blobs.leases")
async def test_a_lease_protects_from_writes(storage):
    blob = await uploaded(storage)
    lease = await done(blob.acquire_lease(15))
    assert await refused(lambda: blob.upload_blob(b"x", overwrite=True)) == (412, "LeaseIdMissing")
    assert await refused(lambda: blob.acquire_lease(15)) == (409, "LeaseAlreadyPresent")
    await done(blob.upload_blob(b"sun", overwrite=True, lease=lease))
    await done(lease.change("b2b8ba4a-2a5c-4f80-8ad5-fd0a3f8c6a0b"))
    await done(lease.renew())
    assert await done(lease.break_lease(0)) == 0
    assert (await done(blob.get_blob_properties())).lease.state == "broken"
    await done(blob.delete_blob())


@feature("blobs.snapshots")
async def test_a_snapshot_stays_as_it_was(storage):
    blob = await uploaded(storage)
    snapshot = (await done(blob.create_snapshot()))["snapshot"]
    await done(blob.upload_blob(b"sun", overwrite=True))
    service = storage.blobs
    earlier = service.get_blob_client(blob.container_name, blob.blob_name, snapshot=snapshot)
    assert (await content(earlier), await content(blob)) == (b"moon", b"sun")
    assert await refused(blob.delete_blob) == (409, "SnapshotsPresent")
    await done(blob.delete_blob(delete_snapshots="include"))
    assert await refused(earlier.get_blob_properties) == (404, "BlobNotFound")


@feature("blobs.tags")
async def test_blobs_are_found_by_their_tags(storage):
    blob = await uploaded(storage)
    mark = fresh("mark")
    await done(blob.set_blob_tags({"mark": mark, "n": "5"}))
    assert await done(blob.get_blob_tags()) == {"mark": mark, "n": "5"}
    found = await rows(storage.blobs.find_blobs_by_tags(f"\"mark\"='{mark}' AND n>='4'"))
    assert [each.name for each in found] == ["dir/a.txt"]
    assert await rows(storage.blobs.find_blobs_by_tags(f"\"mark\"='{mark}' AND n>'5'")) == []
    eleven = {f"k{number}": "v" for number in range(11)}
    assert (await refused(lambda: blob.set_blob_tags(eleven)))[0] == 400


@feature("blobs.copy")
async def test_copies_share_nothing_that_shows(storage):
    blob = await uploaded(storage, b"moon", metadata={"a": "1"})
    copy = storage.blobs.get_blob_client(blob.container_name, "copy")
    assert (await done(copy.start_copy_from_url(blob.url)))["copy_status"] == "success"
    await done(blob.upload_blob(b"sun", overwrite=True))
    found = await done(copy.get_blob_properties())
    assert (await content(copy), found.metadata, found.copy.status) == (b"moon", {"a": "1"}, "success")
    put = storage.blobs.get_blob_client(blob.container_name, "put")
    await done(put.upload_blob_from_url(blob.url))
    assert await content(put) == b"sun"
    missing = storage.blobs.get_blob_client(blob.container_name, "missing").url
    assert await refused(lambda: put.start_copy_from_url(missing)) == (404, "CannotVerifyCopySource")


@feature("blobs.tiers")
async def test_the_archive_is_left_in_time(clocked_storage):
    blob = await uploaded(clocked_storage)
    await done(blob.set_standard_blob_tier("Archive"))
    assert await refused(blob.download_blob) == (409, "BlobArchived")
    await done(blob.set_standard_blob_tier("Hot"))
    assert (await done(blob.get_blob_properties())).archive_status == "rehydrate-pending-to-hot"
    clocked_storage.server.advance(24 * 3600)
    assert await content(blob) == b"moon"


@feature("blobs.soft_delete")
async def test_what_was_deleted_comes_back(clocked_storage):
    service = clocked_storage.blobs
    await done(service.set_service_properties(delete_retention_policy=RetentionPolicy(True, 7)))
    blob = await uploaded(clocked_storage)
    container = service.get_container_client(blob.container_name)
    await done(blob.delete_blob())
    assert await rows(container.list_blobs()) == []
    assert [each.deleted for each in await rows(container.list_blobs(include=["deleted"]))] == [True]
    await done(blob.undelete_blob())
    assert await content(blob) == b"moon"
    await done(service.set_service_properties(delete_retention_policy=RetentionPolicy(False)))


@feature("blobs.batch")
async def test_a_batch_deletes_what_is_there(storage):
    container = await storage.container()
    for name in ("a", "b"):
        await done(container.upload_blob(name, b"x"))
    answers = await rows(await done(container.delete_blobs("a", "b", "c", raise_on_any_failure=False)))
    assert [each.status_code for each in answers] == [202, 202, 404]


@feature("blobs.not_found")
async def test_what_is_not_there_is_404(storage):
    container = await storage.container()
    blob = container.get_blob_client("missing")
    assert await refused(blob.download_blob) == (404, "BlobNotFound")
    assert await refused(blob.delete_blob) == (404, "BlobNotFound")
    nowhere = storage.blobs.get_blob_client(fresh("nowhere"), "a")
    assert await refused(lambda: nowhere.upload_blob(b"x")) == (404, "ContainerNotFound")


@feature("blobs.access.sas")
async def test_signatures_open_what_they_name(storage):
    blob = await uploaded(storage)
    names = {"account_name": ACCOUNT, "account_key": KEY, "expiry": hence(hours=1)}
    container, name = blob.container_name, blob.blob_name

    read = generate_blob_sas(container_name=container, blob_name=name, permission=BlobSasPermissions(read=True), **names)
    reader = await opened(storage, blob, read)
    assert await content(reader) == b"moon"
    assert await refused(reader.delete_blob) == (403, "AuthorizationPermissionMismatch")
    create = generate_container_sas(container_name=container, permission=ContainerSasPermissions(create=True), **names)
    creator = await opened(storage, blob, create)
    assert (await refused(lambda: creator.upload_blob(b"x", overwrite=True)))[0] == 403
    permission = AccountSasPermissions(read=True, write=True)
    whole = generate_account_sas(resource_types=ResourceTypes(object=True), permission=permission, **names)
    writer = await opened(storage, blob, whole)
    await done(writer.upload_blob(b"sun", overwrite=True))
    assert await content(blob) == b"sun"


@feature("blobs.access.delegation")
async def test_a_user_signs_by_a_key_of_the_service(storage):
    blob = await uploaded(storage)
    client = await storage.with_token("blob", "--role", "Storage Blob Data Reader")
    given = await done(client.get_user_delegation_key(hence(hours=-1), hence(hours=1)))
    names = {"account_name": ACCOUNT, "user_delegation_key": given, "expiry": hence(hours=1)}
    names |= {"container_name": blob.container_name, "blob_name": blob.blob_name}
    read = generate_blob_sas(permission=BlobSasPermissions(read=True), **names)
    assert await content(await opened(storage, blob, read)) == b"moon"
    delete = generate_blob_sas(permission=BlobSasPermissions(delete=True), **names)
    eraser = await opened(storage, blob, delete)
    assert await refused(eraser.delete_blob) == (403, "AuthorizationPermissionMismatch")


async def opened(storage, blob, sas):
    """The same blob, with a signature instead of the key."""
    client = await storage.client_with_sas("blob", sas)
    return client.get_blob_client(blob.container_name, blob.blob_name)
