import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

/// A service of orders, their items and the notes of these. It gives all keys. How much its response to a creation
/// contains can be configured.
final class DeepService: HTTPTransport {
  struct Behavior: Sendable, CustomTestStringConvertible {
    var isV2 = false
    /// What is said of an order that was made.
    var response = Response.parent
    /// Knows `$expand`.
    var expands = true
    /// Expands the first entity alone.
    var expandsFirst = false
    /// Knows `Orders(1)/Items`.
    var navigates = true
    /// Keeps texts in capitals.
    var capitalizes = false
    /// Says where what was made is under another host.
    var isElsewhere = false
    /// Gives delta links.
    var tracksChanges = false

    enum Response: String, Sendable { case whole, parent, nothing }

    var testDescription: String {
      "\(isV2 ? "V2" : "V4") \(response)" + (expands ? "" : " no $expand") + (expandsFirst ? " first" : "")
        + (navigates ? "" : " no navigation") + (capitalizes ? " capitals" : "") + (isElsewhere ? " elsewhere" : "")
        + (tracksChanges ? " delta" : "")
    }
  }

  struct State: Sendable {
    var behavior: Behavior
    /// By set and key, texts as JSON.
    var sets: [String: [Int: [String: String]]] = ["Orders": [:], "Items": [:], "Notes": [:], "Tags": [:]]
    var tags: [Int: [Int]] = [:]
    var nextKey = 100
    var requests: [String] = []
    /// The next change is done, and its response lost.
    var losesNext = false
    /// The next change is done, and the response is 406.
    var isNextUnacceptable = false
  }

  private let state: Mutex<State>
  let identity = ""

  init(_ behavior: Behavior) { state = Mutex(State(behavior: behavior)) }

  var now: State { state.withLock { $0 } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    var body: [UInt8] = []
    if case .bytes(let bytes) = request.body { body = bytes }
    let path = request.url.absoluteString.components(separatedBy: "/s/").last ?? ""
    let text = path.removingPercentEncoding ?? path
    let (isLost, status, fields, content) = state.withLock { state in
      var response = state.response(request.method.rawValue, text, request.fields, body)
      let isLost = state.losesNext && request.method != .get
      if isLost { state.losesNext = false }
      if state.isNextUnacceptable, request.method != .get {
        state.isNextUnacceptable = false
        response = (406, [:], "{}")
      }
      return (isLost, response.0, response.1, response.2)
    }
    if isLost { throw .connectionLost(reason: "lost") }
    return HTTPResponse(
      status: status, fields: fields, url: request.url, body: HTTPBodyStream(Array(content.utf8)))
  }
}

extension DeepService.State {
  typealias Response = (Int, HTTPFields, String)
  private static let inner = [
    "Orders": (name: "Items", set: "Items", key: "Order_ID"), "Items": (name: "Notes", set: "Notes", key: "Item_ID"),
  ]

  mutating func response(_ method: String, _ path: String, _ fields: HTTPFields, _ body: [UInt8]) -> Response {
    if path.hasPrefix("$metadata") {
      return (200, [.contentType: "application/xml"], behavior.isV2 ? DeepService.v2 : DeepService.v4)
    }
    requests.append("\(method) \(path)")
    let steps = path.prefix { $0 != "?" }.components(separatedBy: "/")
    let set = steps[0].prefix { $0 != "(" }.description
    let key = steps[0].contains("(") ? Int(steps[0].dropFirst(set.count + 1).dropLast()) : nil
    guard sets[set] != nil else { return (404, [:], "{}") }
    let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
    switch method {
    case "POST": return created(make(set, object, parent: nil))
    case "GET": return read(set, key, steps.dropFirst().first, path, fields)
    default:
      guard let key, sets[set]?[key] != nil else { return (404, [:], "{}") }
      let values = object.filter { !($0.value is [String: Any]) }.mapValues(json)
      sets[set]?[key]?.merge(values) { _, new in new }
      return (204, [:], "")
    }
  }

  private mutating func make(_ set: String, _ object: [String: Any], parent: (String, Int)?) -> Int {
    let key = nextKey
    nextKey += 1
    var values = ["ID": "\(key)"]
    if let parent { values[parent.0] = "\(parent.1)" }
    for (name, value) in object where !(value is [Any] || value is [String: Any]) && !name.contains("@") {
      var text = json(value)
      if behavior.capitalizes { text = text.uppercased() }
      values[name] = text
    }
    sets[set]?[key] = values
    if set == "Orders", let bound = object["Tags@odata.bind"] as? [String] {
      tags[key] = bound.compactMap { Int($0.components(separatedBy: "(").last?.prefix { $0 != ")" } ?? "") }
    }
    if let inner = Self.inner[set] {
      let children =
        object[inner.name] as? [[String: Any]] ?? (object[inner.name] as? [String: Any])?["results"] as? [[String: Any]]
      for child in children ?? [] { _ = make(inner.set, child, parent: (inner.key, key)) }
    }
    return key
  }

  private func created(_ key: Int) -> Response {
    let host = behavior.isElsewhere ? "http://other/x/" : "http://h/s/"
    var fields = version
    fields[.location] = "\(host)Orders(\(key))"
    if behavior.response == .nothing { return (204, fields, "") }
    let text = entity("Orders", key, depth: behavior.response == .whole ? 2 : 0)
    return (201, fields, behavior.isV2 ? "{\"d\":\(text)}" : text)
  }

  private func read(_ set: String, _ key: Int?, _ step: String?, _ path: String, _ fields: HTTPFields) -> Response {
    let isExpanding = path.contains("$expand")
    if isExpanding, !behavior.expands { return (501, [:], "{}") }
    let depth = isExpanding ? path.components(separatedBy: "Notes").count > 1 ? 2 : 1 : 0
    guard let key else { return list(set, (sets[set] ?? [:]).keys.sorted(), depth, path, fields) }
    guard sets[set]?[key] != nil else { return (404, [:], "{}") }
    if let step {
      guard behavior.navigates else { return (404, [:], "{}") }
      if step == "Tags" { return list("Tags", tags[key] ?? [], 0, path, [:]) }
      guard let inner = Self.inner[set], inner.name == step else { return (404, [:], "{}") }
      return list(inner.set, children(inner.set, inner.key, key), depth, path, [:])
    }
    let text = entity(set, key, depth: depth)
    return (200, version, behavior.isV2 ? "{\"d\":\(text)}" : text)
  }

  private func list(_ set: String, _ keys: [Int], _ depth: Int, _ path: String, _ fields: HTTPFields) -> Response {
    var keys = keys
    if let filter = path.components(separatedBy: "$filter=").dropFirst().first?.components(separatedBy: "&").first {
      let words = filter.components(separatedBy: " eq ")
      guard words.count == 2 else { return (501, [:], "{}") }
      keys = keys.filter { sets[set]?[$0]?[words[0]] == words[1].replacingOccurrences(of: "'", with: "\"") }
    }
    let token = path.components(separatedBy: "$deltatoken=").dropFirst().first.flatMap { Int($0) }
    let all = keys.filter { $0 >= token ?? 0 }.map { entity(set, $0, depth: depth) }.joined(separator: ",")
    var text =
      behavior.isV2
      ? "{\"d\":{\"results\":[\(all)]}}"
      : "{\"@odata.context\":\"http://h/s/$metadata#\(set)\(token == nil ? "" : "/$delta")\",\"value\":[\(all)]"
    if !behavior.isV2 {
      if behavior.tracksChanges { text += ",\"@odata.deltaLink\":\"http://h/s/\(set)?$deltatoken=\(nextKey)\"" }
      text += "}"
    }
    return (200, version, text)
  }

  private func children(_ set: String, _ name: String, _ key: Int) -> [Int] {
    (sets[set] ?? [:]).filter { $0.value[name] == "\(key)" }.keys.sorted()
  }

  private func entity(_ set: String, _ key: Int, depth: Int) -> String {
    var parts = (sets[set]?[key] ?? [:]).sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }
    let uri = "http://h/s/\(set)(\(key))"
    if behavior.isV2 { parts.insert("\"__metadata\":{\"id\":\"\(uri)\",\"uri\":\"\(uri)\"}", at: 0) }
    if depth > 0, let inner = Self.inner[set] {
      let all = children(inner.set, inner.key, key).prefix(behavior.expandsFirst ? 1 : .max)
        .map { entity(inner.set, $0, depth: depth - 1) }
        .joined(separator: ",")
      parts.append("\"\(inner.name)\":" + (behavior.isV2 ? "{\"results\":[\(all)]}" : "[\(all)]"))
    }
    return "{\(parts.joined(separator: ","))}"
  }

  private var version: HTTPFields {
    let name: HTTPFieldName = behavior.isV2 ? .dataServiceVersion : .odataVersion
    return [name: behavior.isV2 ? "2.0" : "4.0", .contentType: "application/json"]
  }

  private func json(_ value: Any) -> String {
    let data = try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}

extension DeepService {
  static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/>
    <NavigationProperty Name="Tags" Type="Collection(N.Tag)"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Order_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Order" Type="N.Order" Partner="Items"><ReferentialConstraint Property="Order_ID" ReferencedProperty="ID"/></NavigationProperty>
    <NavigationProperty Name="Notes" Type="Collection(N.Note)" Partner="Item"/></EntityType>
    <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Item_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Item" Type="N.Item" Partner="Notes"><ReferentialConstraint Property="Item_ID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Items" Target="Items"/>
    <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
    <EntitySet Name="Items" EntityType="N.Item"><NavigationPropertyBinding Path="Order" Target="Orders"/>
    <NavigationPropertyBinding Path="Notes" Target="Notes"/></EntitySet>
    <EntitySet Name="Notes" EntityType="N.Note"><NavigationPropertyBinding Path="Item" Target="Items"/></EntitySet>
    <EntitySet Name="Tags" EntityType="N.Tag"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><NavigationProperty Name="Items" Relationship="N.OI" FromRole="O" ToRole="I"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Order_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Order" Relationship="N.OI" FromRole="I" ToRole="O"/>
    <NavigationProperty Name="Notes" Relationship="N.IN" FromRole="I" ToRole="N"/></EntityType>
    <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Item_ID" Type="Edm.Int32"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Item" Relationship="N.IN" FromRole="N" ToRole="I"/></EntityType>
    <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    <Association Name="OI"><End Role="O" Type="N.Order" Multiplicity="0..1"/><End Role="I" Type="N.Item" Multiplicity="*"/>
    <ReferentialConstraint><Principal Role="O"><PropertyRef Name="ID"/></Principal><Dependent Role="I"><PropertyRef Name="Order_ID"/></Dependent></ReferentialConstraint></Association>
    <Association Name="IN"><End Role="I" Type="N.Item" Multiplicity="0..1"/><End Role="N" Type="N.Note" Multiplicity="*"/>
    <ReferentialConstraint><Principal Role="I"><PropertyRef Name="ID"/></Principal><Dependent Role="N"><PropertyRef Name="Item_ID"/></Dependent></ReferentialConstraint></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="Items" EntityType="N.Item"/>
    <EntitySet Name="Notes" EntityType="N.Note"/><EntitySet Name="Tags" EntityType="N.Tag"/>
    <AssociationSet Name="OIS" Association="N.OI"><End Role="O" EntitySet="Orders"/><End Role="I" EntitySet="Items"/></AssociationSet>
    <AssociationSet Name="INS" Association="N.IN"><End Role="I" EntitySet="Items"/><End Role="N" EntitySet="Notes"/></AssociationSet></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """
}
