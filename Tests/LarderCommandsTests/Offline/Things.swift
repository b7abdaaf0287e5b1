import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

@testable import LarderCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A service of three sets of things in pages of two, that sends a signal to the requesting process, at a request of
/// its choice. Only `Things` can be changed.
final class Things: Sendable {
  struct State {
    var names = [1: "a", 2: "b", 3: "c", 4: "d", 5: "e", 6: "f"]
    var versions: [Int: Int] = [:]
    var log: [String] = []
    /// The responses of sets and actions that fail: by name, or by method and name.
    var failing: [String: ScriptedServer.Response] = [:]
    /// The process, and after how many requests of a method it gets which signal; whether that one is done before.
    var process: Int32?
    var signal = SIGINT
    var left = 0
    var method = HTTPMethod.patch
    var isDone = false
    var countsMetadata = false
  }

  let state = Mutex(State())

  func serve() throws -> ScriptedServer { try ScriptedServer { self.response($0) } }

  func arm(_ method: HTTPMethod, at count: Int, isDone: Bool) {
    state.withLock { ($0.method, $0.left, $0.isDone) = (method, count, isDone) }
  }

  /// Sends a signal instead of a response, also of the response to the request for the metadata.
  func arm(_ signal: Int32, at count: Int) {
    arm(.get, at: count, isDone: false)
    state.withLock { ($0.signal, $0.countsMetadata) = (signal, true) }
  }

  private func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    let path = (request.target.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
    let root = "http://\(request.fields["Host"] ?? "")/s/"
    let (response, isHit) = state.withLock { state -> (ScriptedServer.Response, Bool) in
      var isHit = false
      let counts = state.countsMetadata || !path.hasPrefix("$metadata")
      if request.method == state.method, state.left > 0, counts {
        state.left -= 1
        isHit = state.left == 0
      }
      if isHit, !state.isDone { return (.hang, true) }
      return (Things.response(request.method, path, request.body, root, &state), isHit)
    }
    guard isHit, let (process, signal) = state.withLock({ state in state.process.map { ($0, state.signal) } }) else {
      return response
    }
    kill(process, signal)
    return .hang
  }

  private static func response(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], _ root: String, _ state: inout State
  ) -> ScriptedServer.Response {
    if path.hasPrefix("$metadata") {
      return .response(200, fields: ["Content-Type": "application/xml"], body: Things.metadata)
    }
    let set = String(path.prefix { $0 != "(" && $0 != "?" })
    if let response = state.failing["\(method) \(set)"] ?? state.failing[set] { return response }
    if set == "Restock" { return .response(204, fields: ["OData-Version": "4.0"]) }
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
    let link = skip + 2 < state.names.count ? ",\"@odata.nextLink\":\"\(root)\(set)?$skiptoken=\(skip + 2)\"" : ""
    return .response(
      200, fields: fields, body: "{\"value\":[\(page.map(entity).joined(separator: ","))]\(link)}")
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Thing">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/></EntityType>
    <Action Name="Restock"><Parameter Name="amount" Type="Edm.Int32"/></Action><EntityContainer Name="C">
    <ActionImport Name="Restock" Action="N.Restock"/>
    <EntitySet Name="Things" EntityType="N.Thing"/><EntitySet Name="Others" EntityType="N.Thing"/>
    <EntitySet Name="Odds" EntityType="N.Thing"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}

extension Things {
  /// How a run of the executable ended, and what it wrote.
  struct Ending {
    let code: Int32
    let output: String
    let diagnostics: String
  }

  /// Runs the built executable; the service may send it a signal, and so may `watch`, which gets its number.
  func larder(
    _ arguments: [String], environment: [String: String] = [:], watch: @Sendable (Int32) -> Void = { _ in }
  ) async throws -> Ending {
    let folder = try TemporaryFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: LarderBinary.path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    for name in ["out", "err"] { try folder.write([], to: name) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      // The service waits for its number.
      state.withLock { state in
        do { try process.run() } catch { done.resume(throwing: error) }
        state.process = process.processIdentifier
      }
      watch(process.processIdentifier)
    }
    func text(_ name: String) throws -> String {
      String(decoding: try InputFile.read(folder.file(name)), as: UTF8.self)
    }
    return Ending(code: process.terminationStatus, output: try text("out"), diagnostics: try text("err"))
  }
}
