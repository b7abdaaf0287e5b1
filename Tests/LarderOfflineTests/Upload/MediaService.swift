import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization

@testable import LarderCrashRig
@testable import LarderOffline

/// Photos with bytes and an icon, in albums: a service in memory, V2 or V4, whose streams have ETags of their own.
final class MediaService: HTTPTransport {
  struct Photo: Sendable, Hashable {
    var title: String?
    var version = 1
    var bytes = "one"
    var mediaVersion = 1
    var icon: String? = "icon"
    var iconVersion = 1
    var album: Int?
  }

  struct State: Sendable {
    var isV2 = false
    /// Changes of what is there want a condition.
    var requiresIfMatch = false
    /// The status of a change with an old ETag.
    var conflictStatus = 412
    /// Says the new ETag in the response to a change of a stream.
    var returnsETag = true
    /// Says the ETags of streams where photos are listed; it always does where one is read.
    var listsMediaETags = true
    /// A change of bytes changes the photo's ETag, too.
    var bumpsPhoto = true
    var photos: [Int: Photo] = [1: Photo(title: "a"), 2: Photo(title: "b")]
    /// What took effect, with its condition.
    var log: [String] = []
    /// Every request but reads of lists and metadata.
    var requests: [String] = []
    var slugs: [String] = []
    /// Done, and the response is lost.
    var losesNext = false
  }

  let identity = "media"
  private let state: Mutex<State>

  init(_ change: (inout State) -> Void = { _ in }) {
    var state = State()
    change(&state)
    self.state = Mutex(state)
  }

  var now: State { state.withLock { $0 } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// What another does to a photo.
  func edit(_ key: Int, _ body: (inout Photo) -> Void) {
    change { state in
      guard var photo = state.photos[key] else { return }
      body(&photo)
      state.photos[key] = photo
    }
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let path = (request.url.absoluteString.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
    var bytes: [UInt8] = []
    switch request.body {
    case .none: break
    case .bytes(let content): bytes = content
    case .stream(_, let open): do { bytes = try await open().collect() } catch { throw .connectionLost(reason: "") }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let (response, isLost) = state.withLock { state in
      let isChange = request.method != .get
      defer { if isChange { state.losesNext = false } }
      return (state.response(request, path, text), isChange && state.losesNext)
    }
    if isLost { throw .connectionLost(reason: "lost") }
    return HTTPResponse(
      status: response.0, fields: response.1, url: request.url, body: HTTPBodyStream(Array(response.2.utf8)))
  }

  /// An open store of it that has downloaded everything.
  func store(_ folder: TemporaryFolder) async throws -> OfflineODataProvider {
    var parameters = OfflineODataParameters(path: folder.path, encryptionKey: try RigKey.fromEnvironment())
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    parameters.conversation.environment = .sleeping { _ in }
    guard let root = URL(string: "http://h/s/") else { throw OfflineODataError(.invalidServiceRoot) }
    let store = try OfflineODataProvider(serviceRoot: root, transport: self, parameters: parameters)
    for set in ["Photos", "Albums"] { try await store.add(OfflineODataDefiningQuery(set, set)) }
    try await store.open()
    change { ($0.log, $0.requests) = ([], []) }
    return store
  }
}

extension MediaService.State {
  typealias Response = (Int, HTTPFields, String)

  private var json: HTTPFields {
    isV2
      ? ["Content-Type": "application/json", "DataServiceVersion": "2.0"]
      : ["Content-Type": "application/json", "OData-Version": "4.0"]
  }

  mutating func response(_ request: HTTPRequest, _ path: String, _ body: String) -> Response {
    if path == "$metadata" {
      return (200, ["Content-Type": "application/xml"], isV2 ? MediaService.metadataV2 : MediaService.metadataV4)
    }
    if path.hasPrefix("$batch") { return (501, [:], "") }
    let resource = path.prefix { $0 != "?" }.description
    let condition = request.fields[.ifMatch]
    if request.method == .get, !resource.contains("(") {
      return (
        200, json, list(resource == "Albums" ? [#""ID":7"#] : photos.keys.sorted().map { photo($0, isListed: true) })
      )
    }
    let steps = resource.components(separatedBy: "/")
    let line = "\(request.method) \(resource)\(condition.map { " if \($0)" } ?? "")"
    requests.append(line)
    if resource == "Photos", request.method == .post {
      let key = (photos.keys.max() ?? 0) + 1
      photos[key] = MediaService.Photo(bytes: body, icon: nil)
      if let slug = request.fields[.slug] { slugs.append(slug) }
      log.append("\(line) \(request.fields[.contentType] ?? "") \(body)")
      return (201, json.with(.location, "http://h/s/Photos(\(key))"), one(photo(key)))
    }
    if steps[0].hasPrefix("Albums") {
      log.append("\(line) \(body)")
      return (204, [:], "")
    }
    guard let key = Int(steps[0].dropFirst("Photos(".count).dropLast()), var stored = photos[key] else {
      return (404, [:], "")
    }
    let part = steps.dropFirst().filter { $0 != "$ref" && $0 != "$links" }.joined(separator: "/")
    if request.method == .get { return read(key, stored, part) }
    let etag =
      part == "$value"
      ? "\"m\(stored.mediaVersion)\"" : part == "Icon" ? "\"i\(stored.iconVersion)\"" : photoETag(stored)
    if let condition, condition != "*", condition != etag {
      return (conflictStatus, json, MediaService.error)
    }
    if condition == nil, requiresIfMatch { return (428, json, MediaService.error) }
    var fields: HTTPFields = [:]
    switch part {
    case "$value":
      (stored.bytes, stored.mediaVersion) = (body, stored.mediaVersion + 1)
      fields = returnsETag ? [.etag: "\"m\(stored.mediaVersion)\""] : [:]
    case "Icon":
      (stored.icon, stored.iconVersion) = (request.method == .delete ? nil : body, stored.iconVersion + 1)
      fields = returnsETag && request.method != .delete ? [.etag: "\"i\(stored.iconVersion)\""] : [:]
    case "Album": stored.album = request.method == .delete ? nil : 7
    default:
      if request.method == .delete {
        photos[key] = nil
        log.append(line)
        return (204, [:], "")
      }
      let members = UploadService.objects(Array("[\(body)]".utf8))?.first
      stored.title = members?["Title"].map { String($0.dropFirst().dropLast()) } ?? stored.title
    }
    if bumpsPhoto || (part != "$value" && part != "Icon") { stored.version += 1 }
    photos[key] = stored
    log.append(part.isEmpty || part == "Album" ? line : "\(line) \(body)")
    return (204, fields, "")
  }

  private func read(_ key: Int, _ stored: MediaService.Photo, _ part: String) -> Response {
    switch part {
    case "$value": (200, ["Content-Type": "image/x", "ETag": "\"m\(stored.mediaVersion)\""], stored.bytes)
    case "Icon":
      stored.icon.map { (200, ["Content-Type": "image/x", "ETag": "\"i\(stored.iconVersion)\""], $0) } ?? (204, [:], "")
    default: (200, json.with(.etag, photoETag(stored)), one(photo(key)))
    }
  }

  private func photoETag(_ photo: MediaService.Photo) -> String { "W/\"p\(photo.version)\"" }

  private func list(_ members: [String]) -> String {
    let all = members.map { "{\($0)}" }.joined(separator: ",")
    return isV2 ? "{\"d\":{\"results\":[\(all)]}}" : "{\"value\":[\(all)]}"
  }

  private func one(_ members: String) -> String { isV2 ? "{\"d\":{\(members)}}" : "{\(members)}" }

  private func photo(_ key: Int, isListed: Bool = false) -> String {
    guard let photo = photos[key] else { return "" }
    let reports = !isListed || listsMediaETags
    let values = "\"ID\":\(key),\"Title\":\(photo.title.map { "\"\($0)\"" } ?? "null")"
    let etag = "W/\\\"p\(photo.version)\\\""
    if isV2 {
      let media = reports ? ",\"media_etag\":\"\\\"m\(photo.mediaVersion)\\\"\"" : ""
      return "\"__metadata\":{\"uri\":\"http://h/s/Photos(\(key))\",\"etag\":\"\(etag)\",\"content_type\":\"image/x\""
        + ",\"media_src\":\"http://h/s/Photos(\(key))/$value\"\(media)},\(values)"
    }
    var text = "\"@odata.etag\":\"\(etag)\",\"@odata.mediaContentType\":\"image/x\",\(values)"
    if reports { text += ",\"@odata.mediaEtag\":\"\\\"m\(photo.mediaVersion)\\\"\"" }
    if reports, photo.icon != nil { text += ",\"Icon@odata.mediaEtag\":\"\\\"i\(photo.iconVersion)\\\"\"" }
    return text
  }
}

extension HTTPFields {
  fileprivate func with(_ name: HTTPFieldName, _ value: String) -> HTTPFields {
    var fields = self
    fields[name] = value
    return fields
  }
}

extension MediaService {
  fileprivate static let error = #"{"error":{"code":"E","message":"no"}}"#

  private static let properties = """
    <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    """

  static let metadataV4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Photo" HasStream="true">\(properties)<Property Name="Title" Type="Edm.String"/>
    <Property Name="Icon" Type="Edm.Stream"/><NavigationProperty Name="Album" Type="N.Album" Partner="Photos"/></EntityType>
    <EntityType Name="Album">\(properties)
    <NavigationProperty Name="Photos" Type="Collection(N.Photo)" Partner="Album"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Photos" EntityType="N.Photo">
    <NavigationPropertyBinding Path="Album" Target="Albums"/></EntitySet><EntitySet Name="Albums" EntityType="N.Album">
    <NavigationPropertyBinding Path="Photos" Target="Photos"/></EntitySet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  static let metadataV2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="Photo" m:HasStream="true">\(properties)<Property Name="Title" Type="Edm.String"/>
    <NavigationProperty Name="Album" Relationship="N.AP" FromRole="P" ToRole="A"/></EntityType>
    <EntityType Name="Album">\(properties)
    <NavigationProperty Name="Photos" Relationship="N.AP" FromRole="A" ToRole="P"/></EntityType>
    <Association Name="AP"><End Role="A" Type="N.Album" Multiplicity="0..1"/><End Role="P" Type="N.Photo" Multiplicity="*"/></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Photos" EntityType="N.Photo"/>
    <EntitySet Name="Albums" EntityType="N.Album"/><AssociationSet Name="APS" Association="N.AP">
    <End Role="A" EntitySet="Albums"/><End Role="P" EntitySet="Photos"/></AssociationSet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
}
