import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization

/// A V4 service that has states by number: every row of a state carries it, and pages and delta links keep to theirs.
///
/// `Rows` has delta links; `Whole` has none; `Orders` contain `Items`, some of them behind links in line; `Photos` have
/// bytes. Each metadata request moves the service on, where it moves.
final class VersionedService: Sendable {
  /// One request for entities of a set: what was requested, and the next link in the response.
  struct RequestedPage: Sendable, Hashable {
    let set: String
    let link: String
    let next: String?
  }

  private struct State {
    var version = 1
    var moves = true
    var requested: [RequestedPage] = []
    /// Metadata requests since they were taken: each begins a download.
    var downloads = 0
    var requests = 0
    var trigger: (at: Int, run: @Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// The state now.
  var version: Int { state.withLock { $0.version } }
  var moves: Bool {
    get { state.withLock { $0.moves } }
    set { state.withLock { $0.moves = newValue } }
  }

  /// What was requested since the last time, and how many downloads began.
  func takeRequested() -> (pages: [RequestedPage], downloads: Int) {
    state.withLock { state in
      defer { (state.requested, state.downloads) = ([], 0) }
      return (state.requested, state.downloads)
    }
  }

  /// Runs something when so many more requests have come.
  func onRequest(_ count: Int, _ run: @escaping @Sendable () -> Void) {
    state.withLock { $0.trigger = ($0.requests + count, run) }
  }

  /// A server of it under `/s/`.
  func serve() throws -> ScriptedServer { try ScriptedServer { self.reply(to: $0) } }

  // MARK: What there is

  static func rows(_ version: Int) -> [Int] { (1...300).filter { ($0 + version) % 7 != 0 } }
  static func orders(_ version: Int) -> [Int] { (1...60).filter { ($0 + version) % 5 != 0 } }
  static func items(_ order: Int) -> [Int] { Array(0..<(order % 10 == 0 ? 5 : order % 3)) }
  static func photos(_ version: Int) -> [Int] { (1...6).filter { ($0 + version) % 4 != 0 } }
  static func photo(_ version: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: 250_000 + version * 10_000 % 100_000)
  }

  private static func ids(_ set: String, _ version: Int) -> [Int] {
    switch set {
    case "Orders": orders(version)
    case "Photos": photos(version)
    default: rows(version)
    }
  }

  private static func row(_ set: String, _ id: Int, _ version: Int) -> String {
    let filling = String(repeating: String(version % 10), count: id % 50)
    switch set {
    case "Orders":
      let all = items(id)
      let page = all.count > 2 ? Array(all.prefix(2)) : all
      let link = all.count > 2 ? ",\"Items@odata.nextLink\":\"Orders(\(id))/Items?v=\(version)&skip=2\"" : ""
      let inline = page.map { item($0, version) }.joined(separator: ",")
      return "{\"ID\":\(id),\"State\":\(version),\"Items\":[\(inline)]\(link)}"
    case "Photos":
      return "{\"@odata.mediaEtag\":\"\\\"\(version)\\\"\",\"ID\":\(id),\"State\":\(version)}"
    default: return "{\"ID\":\(id),\"State\":\(version),\"Text\":\"\(filling)\"}"
    }
  }

  private static func item(_ number: Int, _ version: Int) -> String { "{\"No\":\(number),\"State\":\(version)}" }

  // MARK: Responses

  func reply(to request: ScriptedServer.Request) -> ScriptedServer.Response {
    let (now, run) = state.withLock { state -> (Int, (@Sendable () -> Void)?) in
      state.requests += 1
      var run: (@Sendable () -> Void)?
      if let trigger = state.trigger, state.requests >= trigger.at {
        run = trigger.run
        state.trigger = nil
      }
      if request.path == "/s/$metadata" {
        state.downloads += 1
        if state.moves { state.version += 1 }
      }
      return (state.version, run)
    }
    run?()
    let path = request.path.dropFirst("/s/".count)
    if path == "$metadata" {
      return .response(200, fields: [.contentType: "application/xml"], body: VersionedService.metadata)
    }
    if path.hasSuffix("$value") {
      return .response(
        200, fields: [.contentType: "image/x", .etag: "\"\(now)\""], bytes: VersionedService.photo(now))
    }
    if path.hasSuffix("/Items") { return inline(String(path), options(request)) }
    guard ["Rows", "Whole", "Orders", "Photos"].contains(path) else { return .response(404) }
    return page(String(path), options(request), now, tracks: request.fields[.prefer]?.contains("track") == true)
  }

  private func options(_ request: ScriptedServer.Request) -> [String: Int] {
    let pairs = (request.query ?? "").split(separator: "&").map { option -> (String, Int) in
      let parts = option.split(separator: "=", maxSplits: 1)
      return (String(parts[0]), parts.count == 2 ? Int(parts[1]) ?? -1 : -1)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  private func inline(_ path: String, _ options: [String: Int]) -> ScriptedServer.Response {
    let order = Int(path.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }) ?? 0
    let (version, skip) = (options["v"] ?? 0, options["skip"] ?? 0)
    let all = VersionedService.items(order)
    let rows = all.dropFirst(skip).prefix(2).map { VersionedService.item($0, version) }
    let next = skip + 2 < all.count ? ",\"@odata.nextLink\":\"\(path)?v=\(version)&skip=\(skip + 2)\"" : ""
    return json("{\"@odata.context\":\"$metadata#\(path)\",\"value\":[\(rows.joined(separator: ","))]\(next)}")
  }

  private func json(_ text: String) -> ScriptedServer.Response {
    .response(200, fields: [.contentType: "application/json", .odataVersion: "4.0"], body: text)
  }

  private func page(_ set: String, _ options: [String: Int], _ now: Int, tracks: Bool) -> ScriptedServer.Response {
    let version = options["to"] ?? options["v"] ?? now
    let skip = options["skip"] ?? 0
    let size = options["since"] == nil ? 40 : 100
    var rows = VersionedService.ids(set, version).map { VersionedService.row(set, $0, version) }
    let count = options["$count"] == nil ? "" : "\"@odata.count\":\(rows.count),"
    if let since = options["since"] {
      if since == version { rows = [] }
      let there = Set(VersionedService.ids(set, version))
      rows += VersionedService.ids(set, since).filter { !there.contains($0) }.map { id in
        "{\"@odata.context\":\"$metadata#\(set)/$deletedEntity\",\"id\":\"\(set)(\(id))\",\"reason\":\"deleted\"}"
      }
    }
    let isTracked = options["tracked"] != nil || options["since"] != nil || (tracks && set == "Rows")
    var end = ""
    var next: String?
    if skip + size < rows.count {
      let place = options["since"].map { "since=\($0)&to=\(version)" } ?? "v=\(version)"
      next = "\(set)?\(place)&skip=\(skip + size)" + (isTracked ? "&tracked" : "")
      end = ",\"@odata.nextLink\":\"\(next ?? "")\""
    } else if isTracked {
      end = ",\"@odata.deltaLink\":\"\(set)?since=\(version)\""
    }
    let names = ["v", "since", "to", "skip", "tracked"]
    let link = names.compactMap { name in options[name].map { "\(name)=\($0)" } }.joined(separator: "&")
    let requested = RequestedPage(set: set, link: link, next: next.map { VersionedService.normal($0) })
    state.withLock { $0.requested.append(requested) }
    let values = rows.dropFirst(skip).prefix(size).joined(separator: ",")
    let context = options["since"] == nil ? set : set + "/$delta"
    return json("{\"@odata.context\":\"$metadata#\(context)\",\(count)\"value\":[\(values)]\(end)}")
  }

  /// A link's options as ``RequestedPage`` writes them.
  private static func normal(_ link: String) -> String {
    link.drop { $0 != "?" }.dropFirst().split(separator: "&").map { $0 == "tracked" ? "tracked=-1" : String($0) }
      .sorted { order($0) < order($1) }.joined(separator: "&")
  }

  private static func order(_ option: String) -> Int {
    ["v", "since", "to", "skip", "tracked"].firstIndex { option.hasPrefix($0 + "=") } ?? 9
  }

  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Row">
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="State" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="State" Type="Edm.Int32"/>
    <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
    <Property Name="State" Type="Edm.Int32"/></EntityType>
    <EntityType Name="Photo" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="State" Type="Edm.Int32"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="N.Row"/><EntitySet Name="Whole" EntityType="N.Row"/>
    <EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="Photos" EntityType="N.Photo"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
}
