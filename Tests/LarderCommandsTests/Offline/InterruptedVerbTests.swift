import Foundation
import HTTPCore
import OData
import Synchronization
import TestSupport
import Testing

@testable import LarderCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ctrl-C while the built `larder` uploads or downloads.
@Suite("An interrupt of an upload or a download", .serialized, .timeLimit(.minutes(5)))
struct InterruptedVerbTests {
  /// A service of things in pages of two, that interrupts the process which asks, at a request of its choice.
  final class Things: Sendable {
    struct State {
      var names = [1: "a", 2: "b", 3: "c", 4: "d", 5: "e", 6: "f"]
      var versions: [Int: Int] = [:]
      var log: [String] = []
      /// The process, and after how many requests of a method it is interrupted; whether that one is done before.
      var process: Int32?
      var left = 0
      var method = HTTPMethod.patch
      var isDone = false
    }

    let state = Mutex(State())

    func serve() throws -> ScriptedServer { try ScriptedServer { self.answer($0) } }

    func arm(_ method: HTTPMethod, at count: Int, isDone: Bool) {
      state.withLock { ($0.method, $0.left, $0.isDone) = (method, count, isDone) }
    }

    private func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
      let path = (request.target.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
      let root = "http://\(request.fields["Host"] ?? "")/s/"
      if path.hasPrefix("$metadata") {
        return .response(200, fields: ["Content-Type": "application/xml"], body: Things.metadata)
      }
      let (answer, isHit) = state.withLock { state -> (ScriptedServer.Answer, Bool) in
        var isHit = false
        if request.method == state.method, state.left > 0 {
          state.left -= 1
          isHit = state.left == 0
        }
        if isHit, !state.isDone { return (.hang, true) }
        return (Things.answer(request.method, path, request.body, root, &state), isHit)
      }
      guard isHit, let process = state.withLock({ $0.process }) else { return answer }
      kill(process, SIGINT)
      return .hang
    }

    private static func answer(
      _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ root: String, _ state: inout State
    ) -> ScriptedServer.Answer {
      let fields: HTTPFields = ["Content-Type": "application/json", "OData-Version": "4.0"]
      let key = path.hasPrefix("Things(") ? Int(path.dropFirst(7).prefix { $0.isNumber }) : nil
      func entity(_ key: Int) -> String {
        #"{"@odata.etag":"W/\"\#(state.versions[key] ?? 1)\"","ID":\#(key),"Name":"\#(state.names[key] ?? "")"}"#
      }
      if let key {
        if method == .patch {
          let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: String]
          state.names[key] = object?["Name"]
          state.versions[key, default: 1] += 1
          state.log.append("\(key) \(object?["Name"] ?? "")")
        }
        return .response(200, fields: fields, body: entity(key))
      }
      let skip = path.components(separatedBy: "$skiptoken=").dropFirst().first.flatMap { Int($0) } ?? 0
      let page = state.names.keys.sorted().dropFirst(skip).prefix(2)
      let link = skip + 2 < state.names.count ? ",\"@odata.nextLink\":\"\(root)Things?$skiptoken=\(skip + 2)\"" : ""
      return .response(
        200, fields: fields, body: "{\"value\":[\(page.map(entity).joined(separator: ","))]\(link)}")
    }

    private static let metadata = """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Thing">
      <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String"/></EntityType><EntityContainer Name="C">
      <EntitySet Name="Things" EntityType="N.Thing"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
  }

  private struct Ending {
    let code: Int32
    let output: String
    let diagnostics: String
  }

  /// Runs the built executable in a clone; the service may interrupt it.
  private func larder(_ arguments: String..., in clone: CloneRig, _ things: Things) async throws -> Ending {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: LarderBinary.path)
    process.arguments = ["-C", clone.path] + arguments
    for name in ["out", "err"] { try folder.write([], to: name) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      // The service waits for its number.
      things.state.withLock { state in
        do { try process.run() } catch { done.resume(throwing: error) }
        state.process = process.processIdentifier
      }
    }
    func text(_ name: String) throws -> String {
      String(decoding: try InputFile.read(folder.file(name)), as: UTF8.self)
    }
    return Ending(code: process.terminationStatus, output: try text("out"), diagnostics: try text("err"))
  }

  @Test(
    "An upload ends with 130 and says what was sent and what waits; the next goes on, and nothing is sent twice",
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
    let ending = try await larder("upload", single[0], single[1], single[2], single[3], in: clone, things)
    #expect(ending.code == 130, "\(ending.diagnostics)")
    #expect(ending.diagnostics.contains("larder: interrupted\n"), "\(ending.diagnostics)")
    let sent = number == 1 ? "" : number == 2 ? "1 change sent; " : "2 changes sent; "
    let left = number == 3 ? "1 change" : "\(4 - number) changes"
    #expect(ending.diagnostics.contains("\(sent)\(left) still waiting: 'larder "), "\(ending.diagnostics)")
    // The copy is whole, with the changes in it.
    #expect(try await clone.value("Things(1)/Name") == "new 1")
    #expect(try await clone.json("query", "Things?$count=true&$top=0")["@odata.count"]?.text == "6")
    let report = try await clone.json("upload", "--batch-size", "0", "--json")
    #expect(report["sent"]?.text == "\(4 - number)" && report["failed"]?.text == "0" && report["left"]?.text == "0")
    #expect(things.state.withLock { $0.log.sorted() } == ["1 new 1", "2 new 2", "3 new 3"])
    #expect(await clone.run("download").status == .done)
    for key in 1...3 { #expect(try await clone.value("Things(\(key))/Name") == "new \(key)") }
  }

  @Test(
    "A download ends with 130 and keeps what was there; the next brings what has changed", arguments: [1, 2, 3],
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
    let ending = try await larder("download", in: clone, things)
    #expect(ending.code == 130, "\(ending.diagnostics)")
    #expect(ending.diagnostics.contains("larder: interrupted\n"), "\(ending.diagnostics)")
    // Before the first page nothing has come.
    let words = ending.diagnostics.contains("What has come is kept: 'larder ")
    #expect(words == (page > 1), "\(ending.diagnostics)")
    // All of the old rows, none of the new ones.
    let names = ["a", "b", "c", "d", "e", "f"]
    for key in 1...6 { #expect(try await clone.value("Things(\(key))/Name") == names[key - 1]) }
    #expect(await clone.run("download").status == .done)
    for key in 1...6 { #expect(try await clone.value("Things(\(key))/Name") == "later \(key)") }
  }
}
