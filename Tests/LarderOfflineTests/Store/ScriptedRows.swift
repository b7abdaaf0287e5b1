import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

/// A small V4 service whose rows and habits the test sets: one set `Rows` of numbers with a text.
final class ScriptedRows: Sendable {
  struct State {
    /// The rows and the time of each one's last change, by a clock that counts changes.
    var rows: [Int: (text: String, changed: Int)] = [:]
    var removed: [Int: Int] = [:]
    var now = 1
    var pageSize: Int?
    var tracks = true
    var heedsTop = true
    var givesETag = false
    /// Delta links before this time have expired, with this status.
    var oldestDelta = 0
    var expiredStatus = 410
    /// Each request for rows gets a web page with this status: something else answers.
    var pageStatus: Int?
    /// The request for rows, by its number from 0, whose response breaks off in its middle.
    var cuts: Set<Int> = []
    /// Called before each request for rows.
    var before: (@Sendable (Int, inout State) -> Void)?
    var extraProperty = false
    var requested: [String] = []

    mutating func put(_ id: Int, _ text: String) {
      now += 1
      rows[id] = (text, now)
      removed[id] = nil
    }

    mutating func remove(_ id: Int) {
      now += 1
      rows[id] = nil
      removed[id] = now
    }
  }

  let state: Mutex<State>

  init(_ count: Int, _ change: (inout State) -> Void = { _ in }) {
    var initial = State()
    for id in stride(from: 1, through: count, by: 1) { initial.rows[id] = ("row \(id)", 1) }
    change(&initial)
    state = Mutex(initial)
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var requested: [String] { state.withLock { $0.requested } }

  /// A server of the rows under `/s/`.
  func serve() throws -> ScriptedServer {
    try ScriptedServer { request in self.response(request) }
  }

  private func response(_ request: ScriptedServer.Request) -> ScriptedServer.Response {
    if request.path == "/s/$metadata" {
      let extra = state.withLock { $0.extraProperty }
      return .response(200, fields: [.contentType: "application/xml"], body: ScriptedRows.metadata(extra))
    }
    guard request.path == "/s/Rows" || request.path == "/s/Rows/$count" else { return .response(404) }
    return state.withLock { state in
      let number = state.requested.count
      state.requested.append(request.query ?? "")
      if let before = state.before { before(number, &state) }
      if let status = state.pageStatus {
        return .response(status, fields: [.contentType: "text/html"], body: "<html></html>")
      }
      if request.path.hasSuffix("$count") {
        return .response(200, fields: [.contentType: "text/plain"], body: String(state.rows.count))
      }
      let options = ScriptedRows.options(request.query ?? "")
      let etag = "\"\(state.now)\""
      if state.givesETag, request.fields[.ifNoneMatch] == etag { return .response(304) }
      let wantsTracking = request.fields[.prefer]?.contains("track-changes") == true && state.tracks
      guard let body = ScriptedRows.body(&state, options, wantsTracking) else {
        return .response(state.expiredStatus, body: "{\"error\":{\"code\":\"x\",\"message\":\"expired\"}}")
      }
      var fields: HTTPFields = [.contentType: "application/json", .odataVersion: "4.0"]
      if state.givesETag { fields[.etag] = etag }
      let response = ScriptedServer.Response.response(200, fields: fields, body: body)
      guard state.cuts.contains(number) else { return response }
      fields[.contentLength] = String(body.utf8.count)
      return .response(200, fields: fields, body: String(body.prefix(body.count / 2))).closing()
    }
  }

  private static func body(_ state: inout State, _ options: [String: String], _ wantsTracking: Bool) -> String? {
    if let since = options["$deltatoken"].flatMap({ Int($0) }) {
      guard since >= state.oldestDelta else { return nil }
      let changed = state.rows.filter { $0.value.changed > since }.sorted { $0.key < $1.key }
      let gone = state.removed.filter { $0.value > since }.keys.sorted()
      let rows =
        changed.map { row($0.key, $0.value.text) }
        + gone.map {
          "{\"@odata.context\":\"$metadata#Rows/$deletedEntity\",\"id\":\"Rows(\($0))\",\"reason\":\"deleted\"}"
        }
      return "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[\(rows.joined(separator: ","))],"
        + "\"@odata.deltaLink\":\"Rows?$deltatoken=\(state.now)\"}"
    }
    var all = state.rows.keys.sorted()
    if let behind = options["$skiptoken"].flatMap({ Int($0) }) { all = all.filter { $0 > behind } }
    if state.heedsTop {
      all = Array(all.dropFirst(options["$skip"].flatMap { Int($0) } ?? 0))
      all = Array(all.prefix(options["$top"].flatMap { Int($0) } ?? all.count))
    }
    var end = ""
    let stamp = options["stamp"].flatMap { Int($0) } ?? (wantsTracking ? state.now : -1)
    if let size = state.pageSize, all.count > size {
      all = Array(all.prefix(size))
      end = ",\"@odata.nextLink\":\"Rows?$skiptoken=\(all.last ?? 0)&stamp=\(stamp)\""
    } else if stamp >= 0 {
      end = ",\"@odata.deltaLink\":\"Rows?$deltatoken=\(stamp)\""
    }
    let count = options["$count"] == "true" ? "\"@odata.count\":\(state.rows.count)," : ""
    let rows = all.map { row($0, state.rows[$0]?.text ?? "") }
    return "{\"@odata.context\":\"$metadata#Rows\",\(count)\"value\":[\(rows.joined(separator: ","))]\(end)}"
  }

  private static func row(_ id: Int, _ text: String) -> String { "{\"ID\":\(id),\"Text\":\"\(text)\"}" }

  private static func options(_ query: String) -> [String: String] {
    var all: [String: String] = [:]
    for option in query.split(separator: "&") {
      let parts = option.split(separator: "=", maxSplits: 1)
      all[String(parts[0]).replacingOccurrences(of: "%24", with: "$")] = parts.count == 2 ? String(parts[1]) : ""
    }
    return all
  }

  private static func metadata(_ extra: Bool) -> String {
    let more = extra ? "<Property Name=\"More\" Type=\"Edm.String\"/>" : ""
    return """
      <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
      <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Row">
      <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/>\(more)</EntityType>
      <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/></EntityContainer></Schema>
      </edmx:DataServices></edmx:Edmx>
      """
  }
}
