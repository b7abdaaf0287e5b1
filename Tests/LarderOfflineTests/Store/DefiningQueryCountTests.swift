import Foundation
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Defining queries: as many as rows can distinguish", .timeLimit(.minutes(3)))
struct DefiningQueryCountTests {
  private func query(_ number: Int) -> OfflineODataDefiningQuery {
    OfflineODataDefiningQuery("q\(number)", "Rows?$filter=ID ne \(number)")
  }

  @Test("the 63rd query of one set is rejected when it is added; the others stay, and removing one makes room")
  func added() async throws {
    let server = try ScriptedRows(3).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    for number in 1...62 { try await store.add(query(number)) }
    try await store.open()
    let error = await #expect(throws: OfflineODataError.self) { try await store.add(query(63)) }
    #expect(error?.name == .tooManyDefiningQueries && error?.errorMessage.contains("Rows") == true)
    #expect(try await store.definingQueries().count == 62)
    try await store.download()
    try await store.removeDefiningQuery("q5")
    try await store.add(query(63))
    try await store.download()
    #expect(try await store.size("Rows") == 3)
    try await store.close()
  }

  @Test("of a store that is filled for the first time the download says so")
  func opened() async throws {
    let server = try ScriptedRows(3).serve()
    defer { server.stop() }
    let store = try StoreRig(server.url("/s/").absoluteString).provider()
    for number in 1...63 { try await store.add(query(number)) }
    let error = await #expect(throws: OfflineODataError.self) { try await store.open() }
    #expect(error?.name == .tooManyDefiningQueries)
  }
}
