import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

/// Ctrl-C while the built `larder` uploads or downloads.
@Suite("An interrupt of an upload or a download", .serialized, .timeLimit(.minutes(5)))
struct InterruptedVerbTests {
  @Test(
    "An upload exits with 130 and reports sent and pending changes; the next one resumes, and nothing is sent twice",
    arguments: [1, 2, 3], [false, true])
  func upload(at number: Int, isDone: Bool) async throws {
    let things = Things()
    let server = try things.serve()
    defer { server.stop() }
    let clone = try await CloneRig(server.text("/s/"), "things=Things")
    for key in 1...3 {
      #expect(await clone.run("update", "Things(\(key))", #"{"Name":"new \#(key)"}"#).status == .done)
    }
    things.arm(.patch, at: number, isDone: isDone)
    let single = ["--batch-size", "0", "--lanes", "1"]
    let ending = try await things.larder(["-C", clone.path, "upload"] + single)
    #expect(ending.code == 130, "\(ending.diagnostics)")
    #expect(ending.diagnostics.contains("larder: interrupted\n"), "\(ending.diagnostics)")
    let sent = number == 1 ? "" : number == 2 ? "1 change sent; " : "2 changes sent; "
    let left = number == 3 ? "1 change" : "\(4 - number) changes"
    #expect(ending.diagnostics.contains("\(sent)\(left) still pending: 'larder "), "\(ending.diagnostics)")
    // The copy is whole, with the changes in it.
    #expect(try await clone.value("Things(1)/Name") == "new 1")
    #expect(try await clone.json("query", "Things?$count=true&$top=0")["@odata.count"]?.text == "6")
    let report = try await clone.json("upload", "--batch-size", "0", "--json")
    #expect(report["sent"]?.text == "\(4 - number)" && report["failed"]?.text == "0" && report["pending"]?.text == "0")
    #expect(things.state.withLock { $0.log.sorted() } == ["1 new 1", "2 new 2", "3 new 3"])
    #expect(await clone.run("download").status == .done)
    for key in 1...3 { #expect(try await clone.value("Things(\(key))/Name") == "new \(key)") }
  }

  @Test(
    "A download exits with 130 and keeps the old rows; the next one updates them", arguments: [1, 2, 3],
    [false, true])
  func download(at page: Int, isDone: Bool) async throws {
    let things = Things()
    let server = try things.serve()
    defer { server.stop() }
    let clone = try await CloneRig(server.text("/s/"), "things=Things")
    things.state.withLock { state in
      for key in 1...6 { (state.names[key], state.versions[key]) = ("later \(key)", 2) }
    }
    things.arm(.get, at: page, isDone: isDone)
    let ending = try await things.larder(["-C", clone.path, "download"])
    #expect(ending.code == 130, "\(ending.diagnostics)")
    #expect(ending.diagnostics.contains("larder: interrupted\n"), "\(ending.diagnostics)")
    // Before the first page, no rows are downloaded.
    let words = ending.diagnostics.contains("The downloaded data is kept: 'larder ")
    #expect(words == (page > 1), "\(ending.diagnostics)")
    // All of the old rows, none of the new ones.
    let names = ["a", "b", "c", "d", "e", "f"]
    for key in 1...6 { #expect(try await clone.value("Things(\(key))/Name") == names[key - 1]) }
    #expect(await clone.run("download").status == .done)
    for key in 1...6 { #expect(try await clone.value("Things(\(key))/Name") == "later \(key)") }
  }
}
