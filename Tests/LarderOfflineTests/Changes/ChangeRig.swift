import Foundation
import LarderCurl
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// An open store without a service, for changes: below the provider, which decides whether it takes them.
final class ChangeRig: Sendable {
  let rows: ReplicaRig
  let store: OpenStore

  init(_ metadata: String = ChangeModels.shop, combines: Bool = false) async throws {
    rows = try await ReplicaRig(metadata: metadata, makesTables: false)
    try await rows.replica.write { (snapshot) throws(StorageError) in try StoredStreams.prepare(snapshot.connection) }
    try await rows.coverAll()
    let url = try #require(URL(string: "http://h/s/"))
    let parameters = OfflineODataParameters(combinesChanges: combines)
    store = OpenStore(
      replica: rows.replica, conversation: try ODataConversation(root: url, transport: try CurlTransport()),
      root: try ODataServiceRoot(url), settings: parameters.openStoreSettings)
  }

  @discardableResult
  func change(_ request: ODataSingleRequest) async throws -> ODataSingleResponse { try await store.change(request) }

  @discardableResult
  func create(_ path: String, _ properties: [ODataProperty], _ links: [ODataNavigationLink] = []) async throws
    -> ODataSingleResponse
  {
    try await change(.create(ODataEntity(properties: properties, navigationLinks: links), in: path))
  }

  @discardableResult
  func update(
    _ path: String, _ properties: [ODataProperty], _ method: ODataSingleRequest.UpdateMethod = .patch,
    ifMatch: String? = nil
  ) async throws -> ODataSingleResponse {
    try await change(.update(path, to: ODataEntity(properties: properties), method: method, ifMatch: ifMatch))
  }

  /// The result of a query.
  func read(_ path: String) async throws -> String {
    var options = OfflineODataResultOptions()
    options.metadata = .none
    return String(decoding: try await store.json(path, options).bytes, as: UTF8.self)
  }

  /// The queue, a line a request: number, unit, operation, target, names of what is sent, `<` what it depends on.
  func queue() async throws -> [String] {
    try await rows.replica.read { (snapshot) throws(StorageError) in
      let queue = ChangeQueue(snapshot.connection)
      let earlier = try queue.dependencies()
      return try queue.entries().map { entry in
        let request = entry.request
        let target = (request.target.row.map { "\($0.table)#" } ?? "") + request.target.path
        let after = (earlier[entry.id] ?? []).map(String.init).joined(separator: ",")
        return "\(entry.id)/\(entry.unit) \(request.operation.rawValue) \(target) \(Self.names(request.body))"
          + (after.isEmpty ? "" : " <\(after)")
      }
    }
  }

  private static func names(_ body: QueuedBody) -> String {
    switch body {
    case .none: return "-"
    case .entity(let entity): return names(entity)
    case .properties(let properties): return properties.map(\.name).joined(separator: ",")
    case .parameters(let parameters): return names(parameters)
    case .reference(.row(let row)): return row.table
    case .reference(.url(let url)): return url
    case .bytes(let bytes, _): return "\(bytes.count) bytes"
    case .media(_, let count, let type): return "\(count) bytes of \(type)"
    }
  }

  private static func names(_ entity: QueuedEntity) -> String {
    let links = entity.links.map { link in
      "\(link.name)[" + (link.bindings.map { _ in "@" } + link.entities.map(names)).joined(separator: ";") + "]"
    }
    return (entity.properties.map { $0.name + ($0.key == nil ? "" : "*") } + links).joined(separator: ",")
  }

  /// Does what an upload does where the server took a request.
  func succeed(_ request: Int64, _ response: EntityCells? = nil) async throws {
    try await rows.replica.write { (snapshot) throws(StorageError) in
      var rows = LocalRows(snapshot)
      try rows.succeed(request, with: response)
      try rows.finish()
    }
  }

  /// The name of the error that a change ends with; nil where it ends well.
  func failure(_ request: ODataSingleRequest) async -> OfflineODataErrorName? {
    do throws(OfflineODataError) { _ = try await store.change(request) } catch { return error.name }
    return nil
  }
}

/// Small models for tests of changes.
enum ChangeModels {
  static let shop = ReplicaRig.v4(
    """
    <EnumType Name="Color"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
    <ComplexType Name="Address"><Property Name="City" Type="Edm.String" MaxLength="10"/>
      <Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="20"/>
      <Property Name="Home" Type="N.Address"/><Property Name="Color" Type="N.Color"/>
      <Property Name="Credit" Type="Edm.Decimal" Precision="5" Scale="2"/>
      <Property Name="Since" Type="Edm.DateTimeOffset"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
      <Property Name="Code" Type="Edm.String"><Annotation Term="Org.OData.Core.V1.Immutable" Bool="true"/></Property>
      <Property Name="Level" Type="Edm.Int32" DefaultValue="3"/><Property Name="Mails" Type="Collection(Edm.String)"/>
      <NavigationProperty Name="Orders" Type="Collection(N.Order)" Partner="Customer"/></EntityType>
    <EntityType Name="Firm" BaseType="N.Customer" OpenType="true"><Property Name="Tax" Type="Edm.Int64"/></EntityType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Guid" Nullable="false"/><Property Name="Total" Type="Edm.Decimal" Scale="2"/>
      <Property Name="CustomerID" Type="Edm.Int32"/>
      <NavigationProperty Name="Customer" Type="N.Customer" Partner="Orders">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
      <NavigationProperty Name="Items" Type="Collection(N.Item)" ContainsTarget="true"/>
      <NavigationProperty Name="Tags" Type="Collection(N.Tag)" Partner="Orders"/>
      <NavigationProperty Name="First" Type="N.Tag"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
      <Property Name="Text" Type="Edm.String"/></EntityType>
    <EntityType Name="Tag"><Key><PropertyRef Name="Name"/></Key>
      <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="20"/><Property Name="Icon" Type="Edm.Stream"/>
      <NavigationProperty Name="Orders" Type="Collection(N.Order)"/></EntityType>
    <EntityType Name="Picture" HasStream="true"><Key><PropertyRef Name="Name"/></Key>
      <Property Name="Name" Type="Edm.String" Nullable="false" MaxLength="20"/></EntityType>
    <EntityType Name="Rate"><Key><PropertyRef Name="Day"/></Key>
      <Property Name="Day" Type="Edm.Date" Nullable="false"/><Property Name="Value" Type="Edm.Double"/></EntityType>
    <Action Name="Close" IsBound="true"><Parameter Name="order" Type="N.Order"/>
      <Parameter Name="Reason" Type="Edm.String"/></Action>
    <Action Name="Move" IsBound="true"><Parameter Name="order" Type="N.Order"/>
      <Parameter Name="Place" Type="Edm.Int32" Nullable="false"/></Action>
    <Action Name="Reset"/>
    """,
    container: """
      <EntitySet Name="Customers" EntityType="N.Customer">
        <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
      <EntitySet Name="Orders" EntityType="N.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Tags" Target="Tags"/><NavigationPropertyBinding Path="First" Target="Tags"/>
        </EntitySet>
      <EntitySet Name="Tags" EntityType="N.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
      <EntitySet Name="Pictures" EntityType="N.Picture"/>
      <EntitySet Name="Rates" EntityType="N.Rate">
        <Annotation Term="Org.OData.Capabilities.V1.InsertRestrictions"><Record>
          <PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>
        <Annotation Term="Org.OData.Capabilities.V1.DeleteRestrictions"><Record>
          <PropertyValue Property="Deletable" Bool="false"/></Record></Annotation></EntitySet>
      <ActionImport Name="Reset" Action="N.Reset"/>
      """)

  /// Version 2, with a foreign key and SAP's annotations.
  static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"
      xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <EntityType Name="Head"><Key><PropertyRef Name="No"/></Key>
      <Property Name="No" Type="Edm.String" Nullable="false" MaxLength="10"/>
      <Property Name="At" Type="Edm.DateTime"/><Property Name="By" Type="Edm.String" sap:updatable="false"/>
      <Property Name="Sum" Type="Edm.Decimal" sap:creatable="false" sap:updatable="false"/>
      <NavigationProperty Name="Lines" Relationship="N.HeadLine" FromRole="H" ToRole="L"/></EntityType>
    <EntityType Name="Line"><Key><PropertyRef Name="No"/><PropertyRef Name="Pos"/></Key>
      <Property Name="No" Type="Edm.String" Nullable="false" MaxLength="10"/>
      <Property Name="Pos" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
      <NavigationProperty Name="Head" Relationship="N.HeadLine" FromRole="L" ToRole="H"/></EntityType>
    <Association Name="HeadLine"><End Type="N.Head" Multiplicity="1" Role="H"/>
      <End Type="N.Line" Multiplicity="*" Role="L"/>
      <ReferentialConstraint><Principal Role="H"><PropertyRef Name="No"/></Principal>
        <Dependent Role="L"><PropertyRef Name="No"/></Dependent></ReferentialConstraint></Association>
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
      <EntitySet Name="Heads" EntityType="N.Head" sap:deletable="false"/><EntitySet Name="Lines" EntityType="N.Line"/>
      <AssociationSet Name="HL" Association="N.HeadLine"><End EntitySet="Heads" Role="H"/>
        <End EntitySet="Lines" Role="L"/></AssociationSet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
}
