//! Paths and verbs that nothing answers to.

use crate::call::Call;
use crate::world::World;

#[tokio::test]
async fn a_verb_that_a_resource_does_not_have_is_405() {
    let world = World::new().await;
    let entity = "/runs(PartitionKey='p',RowKey='r')";
    for call in [
        Call::put("/Tables", "{}"),
        Call::delete("/Tables"),
        Call::put("/Tables('runs')", "{}"),
        Call::merge("/runs", "{}"),
        Call::delete("/runs"),
        Call::post(entity, "{}"),
        Call::post(entity, "{}").header("X-HTTP-Method", "STEAL"),
        Call::get("/$batch"),
        Call::new("TRACE", "/runs"),
        Call::delete("/?restype=service&comp=properties"),
        Call::delete("/runs?comp=acl"),
    ] {
        world.refused(call, 405, "UnsupportedHttpVerb", "").await;
    }
}

#[tokio::test]
async fn a_path_that_names_nothing_is_refused() {
    let world = World::new().await;
    for path in
        ["/a/b", "/runs(PartitionKey='p',RowKey='r'", "/runs('x')", "/(PartitionKey='p',RowKey='r')", "/", ""]
    {
        world.refused(Call::get(path), 400, "InvalidUri", "").await;
    }
    for path in ["/runs(PartitionKey='p')", "/runs(RowKey='r',RowKey='r')", "/runs(PartitionKey=p,RowKey=r)"]
    {
        world.refused(Call::get(path), 400, "InvalidInput", "a key is written").await;
    }
    world.refused(Call::get("/runs?comp=metadata"), 400, "InvalidUri", "").await;
    world.refused(Call::get("/a"), 400, "OutOfRangeInput", "length").await;
}
