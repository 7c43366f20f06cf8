"""Patches: small changes to an item, all of them or none."""

from azure.core import MatchConditions

from harness import done, feature, refused, user_members

ITEM = {"id": "a", "pk": "p", "n": 1, "exact": 9007199254740993, "tags": ["x", "y"], "o": {"old": True}}


async def made(cosmos):
    container = await cosmos.container()
    await done(container.create_item(ITEM))
    return container


@feature("items.patch")
async def test_every_operation_of_a_patch(cosmos):
    container = await made(cosmos)
    operations = [
        {"op": "add", "path": "/tags/1", "value": "between"},
        {"op": "add", "path": "/tags/-", "value": "end"},
        {"op": "set", "path": "/tags/0", "value": "first"},
        {"op": "set", "path": "/o/new", "value": {"deep": None}},
        {"op": "replace", "path": "/o/old", "value": False},
        {"op": "incr", "path": "/n", "value": 41},
        {"op": "incr", "path": "/counted", "value": 2.5},
        {"op": "remove", "path": "/tags/2"},
        {"op": "move", "from": "/o/old", "path": "/moved"},
    ]
    patched = await done(container.patch_item("a", "p", operations))
    expected = {
        "id": "a", "pk": "p", "n": 42, "exact": 9007199254740993, "tags": ["first", "between", "end"],
        "o": {"new": {"deep": None}}, "counted": 2.5, "moved": False,
    }  # fmt: skip
    assert user_members(patched) == expected
    assert list(user_members(patched)) == list(expected)
    read = await done(container.read_item("a", "p"))
    assert dict(read) == dict(patched)
    assert patched.get_response_headers()["etag"] == read["_etag"]


@feature("items.patch")
async def test_increments_at_the_same_time_lose_none(cosmos):
    container = await made(cosmos)
    incr = [{"op": "incr", "path": "/n", "value": 1}]
    statuses = await cosmos.together(*[lambda: container.patch_item("a", "p", incr)] * 16)
    assert statuses == [200] * 16
    assert (await done(container.read_item("a", "p")))["n"] == 17


@feature("items.patch_condition")
async def test_a_patch_whose_condition_is_false_is_refused(cosmos):
    container = await made(cosmos)
    incr = [{"op": "incr", "path": "/n", "value": 1}]
    once = lambda: container.patch_item("a", "p", incr, filter_predicate="from c where c.n = 1")
    assert (await done(once()))["n"] == 2
    assert await refused(once) == 412
    tags = "from c where ARRAY_CONTAINS(c.tags, 'y') AND c.n > 1"
    assert (await done(container.patch_item("a", "p", incr, filter_predicate=tags)))["n"] == 3
    assert await refused(lambda: container.patch_item("a", "p", incr, filter_predicate="from c where")) == 400


@feature("items.patch_condition")
async def test_a_patch_with_a_stale_tag_is_refused(cosmos):
    container = await made(cosmos)
    tag = (await done(container.read_item("a", "p")))["_etag"]
    incr = [{"op": "incr", "path": "/n", "value": 1}]
    only_this = {"etag": tag, "match_condition": MatchConditions.IfNotModified}
    await done(container.patch_item("a", "p", incr, **only_this))
    assert await refused(lambda: container.patch_item("a", "p", incr, **only_this)) == 412
    assert (await done(container.read_item("a", "p")))["n"] == 2


@feature("items.patch_refused")
async def test_a_patch_that_cannot_be_done_changes_nothing(cosmos):
    container = await made(cosmos)
    first = {"op": "set", "path": "/n", "value": 7}
    wrong = [
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "remove", "path": "/missing"},
        {"op": "add", "path": "/missing/child", "value": 1},
        {"op": "add", "path": "/tags/3", "value": 1},
        {"op": "incr", "path": "/tags", "value": 1},
        {"op": "set", "path": "/id", "value": "b"},
        {"op": "set", "path": "/pk", "value": "q"},
        {"op": "set", "path": "/_ts", "value": 1},
        {"op": "copy", "from": "/n", "path": "/m"},
        {"op": "set", "path": "no slash", "value": 1},
    ]
    for operation in wrong:
        assert await refused(lambda: container.patch_item("a", "p", [first, operation])) == 400, operation
    assert await refused(lambda: container.patch_item("a", "p", [first] * 11)) == 400
    assert await refused(lambda: container.patch_item("a", "p", [])) == 400
    assert await refused(lambda: container.patch_item("b", "p", [first])) == 404
    assert user_members(await done(container.read_item("a", "p"))) == ITEM
