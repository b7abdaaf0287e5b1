import Foundation
import HTTPCore
import ODataService
import OnlineOData
import TestSupport
import Testing

@Suite("Whose entries they are", .timeLimit(.minutes(5)))
struct EntryOwnerTests {
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
