import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("The owners of entries", .timeLimit(.minutes(5)))
struct EntryOwnerTests {
  @Test("a 404 to one credential leaves the entries of another", arguments: ["PRIVATE-TOKEN", "X-API-Key", "X-Who"])
  func credentials(name: String) async throws {
    let field = HTTPFieldName(name)
    let rig = try StoreRig { request in
      request.fields["X-Gone"] == nil
        ? .ok(#"{"of":"\#(request.fields[field] ?? "-")"}"#) : .status(404)
    }
    let store = try await rig.openStore { $0.credentialFields.insert("X-Who") }
    func read(_ value: String, isGone: Bool = false) -> ODataRequest {
      .single(ODataSingleRequest(.read, "P", fields: isGone ? [field: value, "X-Gone": "yes"] : [field: value]))
    }
    for value in ["one", "two"] { await store.calls(read(value)) }
    await store.calls(read("one", isGone: true))
    #expect(await store.calls(read("two"))[1] == #"cacheResponse(inProgress)={"of":"two"}"#)
    #expect(await store.calls(read("one"))[1] == "cacheResponse(inProgress)")
    try await store.close()
  }

  @Test("one name with two passwords is two users: their entries do not meet")
  func passwords() async throws {
    let rig = try StoreRig { _ in .ok(#"{"secret":1}"#) }
    let right = try BasicAuthentication(user: "ann", password: "right")
    let wrong = try BasicAuthentication(user: "ann", password: "wrong")
    #expect(right.identity != wrong.identity)
    #expect(try right.identity == BasicAuthentication(user: "ann", password: "right").identity)
    let first = try await rig.openStore(right)
    _ = try await first.read("P")
    try await first.close()
    let second = try await rig.openStore(wrong)
    try second.setPassive(true)
    #expect(try await second.read("P").cached == nil)
    try await second.close()
    let third = try await rig.openStore(right)
    try third.setPassive(true)
    #expect(text(try await third.read("P").cached) == #"{"secret":1}"#)
    try await third.close()
  }
}
