import LarderOData
import LarderODataXML
import Testing

@Suite("The resource that a URL identifies", .timeLimit(.minutes(5)))
struct ResourceShapeTests {
  private static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="P"><Key>\
    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\
    <Property Name="Price" Type="Edm.Decimal" Scale="variable"/><Property Name="Tags" Type="Collection(Edm.String)"/>\
    <Property Name="Ad" Type="S.Ad"/>\
    <NavigationProperty Name="Next" Type="S.P"/><NavigationProperty Name="Parts" Type="Collection(S.P)"/></EntityType>\
    <EntityType Name="Q" BaseType="S.P"/><ComplexType Name="Ad"><Property Name="City" Type="Edm.String"/></ComplexType>\
    <Function Name="Best" IsBound="true"><Parameter Name="it" Type="Collection(S.P)"/><ReturnType Type="S.P"/></Function>\
    <Function Name="Sum"><ReturnType Type="Edm.Decimal"/></Function>\
    <Action Name="Buy" IsBound="true"><Parameter Name="it" Type="S.P"/><Parameter Name="N" Type="Edm.Int32"/></Action>\
    <EntityContainer Name="C"><EntitySet Name="P" EntityType="S.P"/><Singleton Name="Me" Type="S.P"/>\
    <FunctionImport Name="Sum" Function="S.Sum"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices \
    m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="E"><Key>\
    <PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.Int64" Nullable="false"/>\
    <Property Name="Dt" Type="Edm.DateTime"/><Property Name="C" Type="N.Ad"/>\
    <NavigationProperty Name="Nv" Relationship="N.A" FromRole="one" ToRole="many"/></EntityType>\
    <ComplexType Name="Ad"><Property Name="At" Type="Edm.Time"/></ComplexType>\
    <Association Name="A"><End Type="N.E" Multiplicity="1" Role="one"/><End Type="N.E" Multiplicity="*" Role="many"/>\
    </Association><EntityContainer Name="K" m:IsDefaultEntityContainer="true"><EntitySet Name="Es" EntityType="N.E"/>\
    <AssociationSet Name="As" Association="N.A"><End Role="one" EntitySet="Es"/><End Role="many" EntitySet="Es"/>\
    </AssociationSet><FunctionImport Name="Fn" ReturnType="Edm.Decimal" m:HttpMethod="GET"/>\
    <FunctionImport Name="Ads" ReturnType="Collection(N.Ad)" m:HttpMethod="GET"/>\
    <FunctionImport Name="Top" EntitySet="Es" ReturnType="Collection(N.E)" m:HttpMethod="GET"/>\
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test(
    "The shape of a path in a V4 model (URL Conventions 4.01 §4)",
    arguments: [
      ("P", PayloadKind.collection, "S.P"), ("P(1)", .entity, "S.P"), ("P('a/b')/Next", .entity, "S.P"),
      ("P(%27a/b%27)/Next", .entity, "S.P"), ("P(1)/Parts?$top=1", .collection, "S.P"),
      ("P(1)/Parts(2)", .entity, "S.P"), ("Me", .entity, "S.P"), ("Me/Price", .property, "Edm.Decimal"),
      ("P(1)/Tags", .property, "Collection(Edm.String)"), ("P(1)/Ad/City", .property, "Edm.String"),
      ("P(1)/Parts/$ref", .references, "S.P"), ("P(1)/Next/$ref", .reference, "S.P"), ("P/S.Q", .collection, "S.Q"),
      ("P/S.Best()", .entity, "S.P"), ("Sum()", .property, "Edm.Decimal"), ("P/$count", nil, nil),
      ("P(1)/Price/$value", nil, nil), ("P(1)/S.Buy", nil, nil),
    ] as [(String, PayloadKind?, String?)])
  func v4(path: String, kind: PayloadKind?, type: String?) throws {
    try check(path, Self.v4, kind, type)
  }

  @Test(
    "The shape of a path in a V2 model ([MS-ODATA] §2.2.3)",
    arguments: [
      ("Es", PayloadKind.collection, "N.E"), ("Es(1L)", .entity, "N.E"), ("K.Es(1L)", .entity, "N.E"),
      ("Es(1L)/Dt", .property, "Edm.DateTime"), ("Es(1L)/C", .property, "N.Ad"), ("Es(1L)/C/At", .property, "Edm.Time"),
      ("Es(1L)/Nv", .collection, "N.E"), ("Es(1L)/Nv(2L)/Dt", .property, "Edm.DateTime"),
      ("Es(1L)/$links/Nv", .references, "N.E"), ("Es(1L)/$links/Nv(2L)", .reference, "N.E"),
      ("Fn?x=1", .property, "Edm.Decimal"), ("Fn()", .property, "Edm.Decimal"), ("Ads", .property, "Collection(N.Ad)"),
      ("Top", .collection, "N.E"), ("Es(1L)/Dt/$value", nil, nil), ("Es/$count", nil, nil),
    ] as [(String, PayloadKind?, String?)])
  func v2(path: String, kind: PayloadKind?, type: String?) throws {
    try check(path, Self.v2, kind, type)
  }

  private func check(_ path: String, _ metadata: String, _ kind: PayloadKind?, _ type: String?) throws {
    let model = try EdmModel.read(Array(metadata.utf8))
    for url in [path, "/svc/" + path, "https://h/x/y.svc/" + path] {
      let shape = try #require(ResourceShape(url: url, model: model), "\(url)")
      #expect(shape.kind == kind, "\(url)")
      #expect(shape.type?.description == type, "\(url)")
    }
    #expect(ResourceShape(path: path, model: model)?.kind == kind)
  }

  @Test("Paths that the model does not know have no shape", arguments: ["X", "P/Y", "P(1)/Price/Z", "$batch", ""])
  func unknown(path: String) throws {
    let model = try EdmModel.read(Array(Self.v4.utf8))
    #expect(ResourceShape(path: path, model: model) == nil)
    #expect(ResourceShape(url: "https://P/" + path, model: model) == nil)
  }
}
