import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Synchronization

@testable import LarderOffline

/// Sends one change by each way that a change can take, and shows what the service receives.
final class ContentRig: Sendable {
  let service: ContentService
  let store: OfflineODataProvider
  let conversation: ODataConversation
  private let folder: TemporaryFolder

  init(_ version: ODataVersion) async throws {
    service = ContentService(version)
    folder = try TemporaryFolder()
    var parameters = OfflineODataParameters(storeName: "store", path: folder.path, onDiagnostic: { _ in })
    parameters.conversation.retry = .never
    parameters.conversation.csrf = .never
    store = try OfflineODataProvider(serviceRoot: ContentService.root, transport: service, parameters: parameters)
    conversation = try ODataConversation(
      root: ContentService.root, transport: service, options: parameters.conversation)
    for set in ["Things", "Kids"] { try await store.add(OfflineODataDefiningQuery(set.lowercased(), set)) }
    try await store.open()
    _ = try await conversation.metadata()
  }

  /// The ways of a change.
  enum Way: String, CaseIterable {
    case offline, offlineInChangeSet, online, onlineInChangeSet
  }

  /// The content that the service receives, or the part of the error message that names what cannot be sent.
  func outcome(
    _ operation: ODataSingleRequest.Operation, _ path: String, _ json: String, _ way: Way
  ) async throws -> String {
    service.reset()
    do {
      let request = try await store.change(operation, path, json: Array(json.utf8))
      try await send(request, operation, path, json, way)
    } catch {
      return "✗ \(Self.words(error))"
    }
    return service.bodies.joined(separator: " + ")
  }

  /// Deletes the entities that a change has created.
  func deleteCreated() async throws {
    for path in ["Things(7)", "Kids(9)"] where (try? await store.execute(single: .delete(path))) != nil {
      _ = try await store.upload()
    }
  }

  /// A content without the names of declared types, which both stores may add, the root, and the key that updates of the
  /// offline store leave out.
  static func plain(_ content: String, isUpdate: Bool) -> String {
    var text = content
    if let body = text.firstRange(of: #""body":"#) { text = String(text[body.upperBound...].dropLast(3)) }
    for type in ["Thing", "Kid"] {
      for part in [
        ##""@odata.type":"#N.\##(type)""##, ##""@type":"#N.\##(type)""##, #""__metadata":{"type":"N.\#(type)"}"#,
      ] {
        text = text.replacing(part + ",", with: "").replacing(part, with: "")
      }
    }
    text = text.replacing("http://h/s/", with: "")
    guard isUpdate else { return text }
    return text.replacing(#""ID":1,"#, with: "").replacing(#","ID":1}"#, with: "}").replacing(#"{"ID":1}"#, with: "{}")
  }

  private func send(
    _ request: ODataSingleRequest, _ operation: ODataSingleRequest.Operation, _ path: String, _ json: String, _ way: Way
  ) async throws {
    switch way {
    case .online: _ = try await conversation.send(request)
    case .onlineInChangeSet:
      _ = try await conversation.send(ODataBatchRequest([.changeSet([request])], format: .multipart))
    case .offline:
      _ = try await store.execute(single: request)
      _ = try await store.upload(.init(changesPerBatch: 0))
    case .offlineInChangeSet:
      var draft = ChangeSetDraft()
      try await store.add(operation, path, json: Array(json.utf8), name: nil, to: &draft) { _ in }
      _ = try await store.apply(draft)
      _ = try await store.upload()
    }
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case let error as ChangeSetError: error.error.errorMessage
    case let error as ODataServiceError:
      if case .invalidRequest(let text) = error.category { text } else { "\(error)" }
    case let error as OfflineODataError: error.errorMessage
    default: "\(error)"
    }
  }
}

/// A service with the sets `Things` and `Kids` that accepts every change.
final class ContentService: HTTPTransport {
  static let root = URL(string: "http://h/s/") ?? URL(filePath: "/")

  private let version: ODataVersion
  private let received = Mutex<[String]>([])

  init(_ version: ODataVersion) { self.version = version }

  /// The JSON texts that changes have had as content.
  var bodies: [String] { received.withLock { $0 } }
  func reset() { received.withLock { $0 = [] } }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let path = request.url.path(percentEncoded: false)
    let isV4 = version >= .v4
    var fields: HTTPFields = ["Content-Type": "application/json"]
    if isV4 {
      fields["OData-Version"] = version == .v401 ? "4.01" : "4.0"
    } else {
      fields["DataServiceVersion"] = "2.0"
    }
    func response(_ status: Int, _ text: String) -> HTTPResponse {
      HTTPResponse(status: status, fields: fields, url: request.url, body: HTTPBodyStream(Array(text.utf8)))
    }
    if path.hasSuffix("$metadata") {
      fields["Content-Type"] = "application/xml"
      return response(200, isV4 ? Self.v4(version) : Self.v2)
    }
    guard request.method != .get else {
      let rows = path.hasSuffix("Things") ? #"[{"ID":1,"Name":"a"}]"# : #"[{"ID":1},{"ID":2}]"#
      return response(200, isV4 ? #"{"value":\#(rows)}"# : #"{"d":{"results":\#(rows)}}"#)
    }
    guard case .bytes(let content) = request.body else { return response(204, "") }
    let text = String(decoding: content, as: UTF8.self)
    let lines = text.split { $0.isNewline }
    received.withLock { $0 += lines.filter { $0.hasPrefix("{") }.map(String.init) }
    guard path.hasSuffix("$batch") else { return response(204, "") }
    fields["Content-Type"] = "multipart/mixed; boundary=b"
    let id = lines.first { $0.hasPrefix("Content-ID") }.map { $0 + "\r\n" } ?? ""
    return response(
      200,
      "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
        + "Content-Transfer-Encoding: binary\r\n\(id)\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n--b--\r\n")
  }

  private static func v4(_ version: ODataVersion) -> String {
    """
    <edmx:Edmx Version="\(version == .v401 ? "4.01" : "4.0")" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
    <edmx:DataServices><Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Kid"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
    <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><NavigationProperty Name="Land" Type="N.Kid"/>
      </ComplexType>
    <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
      <Property Name="Home" Type="N.Place"/><Property Name="Icon" Type="Edm.Stream"/>
      <NavigationProperty Name="One" Type="N.Kid"/><NavigationProperty Name="Kids" Type="Collection(N.Kid)"/></EntityType>
    <Action Name="Do"><Parameter Name="Thing" Type="N.Thing"/><Parameter Name="Text" Type="Edm.String"/></Action>
    <EntityContainer Name="C">
      <EntitySet Name="Things" EntityType="N.Thing"><NavigationPropertyBinding Path="One" Target="Kids"/>
        <NavigationPropertyBinding Path="Kids" Target="Kids"/>
        <NavigationPropertyBinding Path="Home/Land" Target="Kids"/></EntitySet>
      <EntitySet Name="Kids" EntityType="N.Kid"/><ActionImport Name="Do" Action="N.Do"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
    <EntityType Name="Kid"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
    <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/></ComplexType>
    <EntityType Name="Thing" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
      <Property Name="Home" Type="N.Place" Nullable="false"/>
      <NavigationProperty Name="One" Relationship="N.OneOf" FromRole="T" ToRole="K"/>
      <NavigationProperty Name="Kids" Relationship="N.KidsOf" FromRole="T" ToRole="K"/></EntityType>
    <Association Name="OneOf"><End Type="N.Thing" Multiplicity="*" Role="T"/>
      <End Type="N.Kid" Multiplicity="0..1" Role="K"/></Association>
    <Association Name="KidsOf"><End Type="N.Thing" Multiplicity="0..1" Role="T"/>
      <End Type="N.Kid" Multiplicity="*" Role="K"/></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
      <EntitySet Name="Things" EntityType="N.Thing"/><EntitySet Name="Kids" EntityType="N.Kid"/>
      <FunctionImport Name="Do" m:HttpMethod="POST"><Parameter Name="Text" Type="Edm.String"/></FunctionImport>
      <AssociationSet Name="O" Association="N.OneOf"><End EntitySet="Things" Role="T"/>
        <End EntitySet="Kids" Role="K"/></AssociationSet>
      <AssociationSet Name="K" Association="N.KidsOf"><End EntitySet="Things" Role="T"/>
        <End EntitySet="Kids" Role="K"/></AssociationSet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}
