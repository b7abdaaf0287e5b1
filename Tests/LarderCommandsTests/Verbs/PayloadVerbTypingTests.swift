import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder payload with a model and a URL", .timeLimit(.minutes(5)))
struct PayloadVerbTypingTests {
  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices \
    m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\
    <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="E"><Key>\
    <PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.Int64" Nullable="false"/>\
    <Property Name="Dt" Type="Edm.DateTime"/><Property Name="C" Type="N.Ad"/>\
    <NavigationProperty Name="Nv" Relationship="N.A" FromRole="one" ToRole="many"/></EntityType>\
    <ComplexType Name="Ad"><Property Name="No" Type="Edm.Int64"/></ComplexType>\
    <Association Name="A"><End Type="N.E" Multiplicity="1" Role="one"/><End Type="N.E" Multiplicity="*" Role="many"/>\
    </Association><EntityContainer Name="K" m:IsDefaultEntityContainer="true"><EntitySet Name="Es" EntityType="N.E"/>\
    <AssociationSet Name="As" Association="N.A"><End Role="one" EntitySet="Es"/><End Role="many" EntitySet="Es"/>\
    </AssociationSet><FunctionImport Name="Fn" ReturnType="Edm.Decimal" m:HttpMethod="GET"/>\
    <FunctionImport Name="Ads" ReturnType="Collection(N.Ad)" m:HttpMethod="GET"/>\
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  private static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="E"><Key>\
    <PropertyRef Name="Id"/></Key><Property Name="Id" Type="Edm.Int64" Nullable="false"/>\
    <Property Name="Ds" Type="Collection(Edm.Date)"/><Property Name="As" Type="Collection(N.Ad)"/>\
    <Property Name="A" Type="N.Ad"/><Property Name="Col" Type="N.Colour"/></EntityType>\
    <ComplexType Name="Ad"><Property Name="Col" Type="N.Colour"/></ComplexType>\
    <EnumType Name="Colour"><Member Name="Red"/></EnumType>\
    <EntityContainer Name="K"><EntitySet Name="Es" EntityType="N.E"/></EntityContainer></Schema>\
    </edmx:DataServices></edmx:Edmx>
    """

  private func show(_ payload: String, _ metadata: String, _ url: String?) async throws -> String {
    let folder = try TemporaryFolder()
    let model = try folder.write(Array(metadata.utf8), to: "m.xml")
    let arguments = ["payload", "--file", "-", "--metadata", model] + (url.map { ["--url", $0] } ?? [])
    let outcome = await Rig(input: Array(payload.utf8)).run(arguments)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    return outcome.output
  }

  @Test("With full metadata, properties have the names of the declared types, not those with # of the payload")
  func fullMetadata() async throws {
    let payload =
      ##"{"@odata.context":"http://h/$metadata#Es","value":[{"Id@odata.type":"#Int64","Id":1,"##
      + ##""Ds@odata.type":"#Collection(Date)","Ds":["2020-01-01"],"Col@odata.type":"#N.Colour","Col":"Red","##
      + ##""A@odata.type":"http://h/$metadata#N.Ad","A":null}]}"##
    let shown = try await show(payload, Self.v4, nil)
    for (name, type) in [("Id", "Edm.Int64"), ("Ds", "Collection(Edm.Date)"), ("Col", "N.Colour"), ("A", "N.Ad")] {
      #expect(shown.contains(#""name":"\#(name)","type":"\#(type)""#), "\(shown)")
    }
  }

  @Test(
    "A V2 payload has the types of its URL",
    arguments: [
      (#"{"d":{"Dt":"\/Date(0)\/"}}"#, "Es(1L)/Dt", #""name":"Dt","type":"Edm.DateTime","value":"1970-01-01T00:00:00"#),
      (
        #"{"d":{"C":{"No":"5"}}}"#, "Es(1L)/C",
        #""name":"C","type":"N.Ad","value":{"type":"N.Ad","properties":[{"name":"No","type":"Edm.Int64","value":5}]}"#
      ),
      (#"{"d":{"No":"5"}}"#, "Es(1L)/C", #"{"name":"No","type":"Edm.Int64","value":5}"#),
      (#"{"d":{"C":null}}"#, "Es(1L)/C", #""name":"C","type":"N.Ad","value":null"#),
      (#"{"d":{"Fn":"1.50"}}"#, "Fn?x=1", #""name":"Fn","type":"Edm.Decimal","value":1.50"#),
      (#"{"d":{"results":[{"No":"5"}]}}"#, "Ads()", #"{"name":"No","type":"Edm.Int64","value":5}"#),
      (
        #"{"d":{"results":[{"uri":"http://x"},{"uri":"http://y"}]}}"#, "Es(1L)/$links/Nv",
        #"{"kind":"references","references":[{"id":"http://x"},{"id":"http://y"}]}"#
      ),
      (#"{"d":{"uri":"http://x"}}"#, "Es(1L)/$links/Nv(2L)", #"{"kind":"reference","id":"http://x"}"#),
      (#"{"d":{"results":[]}}"#, "Es(1L)/$links/Nv", #""kind":"references""#),
    ])
  func v2(payload: String, path: String, expected: String) async throws {
    for root in ["", "https://h/sap/S/"] {
      let shown = try await show(payload, Self.v2, root + path)
      #expect(shown.contains(expected), "\(shown)")
    }
  }

  @Test(
    "Declared names of collections, complex values and enumerations are shown",
    arguments: [
      (#"{"value":["2026-01-15"]}"#, "Es(1)/Ds", #""type":"Collection(Edm.Date)","value":["2026-01-15"]"#),
      (#"{"value":[]}"#, "Es(1)/Ds", #""type":"Collection(Edm.Date)","value":[]"#),
      (##"{"@odata.context":"$metadata#Es(1)/Ds","value":[]}"##, nil, #""type":"Collection(Edm.Date)","value":[]"#),
      (#"{"Id":1,"Ds":[]}"#, "Es(1)", #"{"name":"Ds","type":"Collection(Edm.Date)","value":[]}"#),
      (
        #"{"Id":1,"As":[{"Col":"Red"}]}"#, "Es(1)",
        #""type":"Collection(N.Ad)","value":[{"type":"N.Ad","properties":[{"name":"Col","type":"N.Colour","value":"Red"}]}]"#
      ),
      (#"{"Id":1,"A":null,"Col":"Red"}"#, "Es(1)", #"{"name":"A","type":"N.Ad","value":null}"#),
      (#"{"Id":1,"Col":"Red"}"#, "Es(1)", #"{"name":"Col","type":"N.Colour","value":"Red"}"#),
    ] as [(String, String?, String)])
  func v4(payload: String, path: String?, expected: String) async throws {
    let shown = try await show(payload, Self.v4, path)
    #expect(shown.contains(expected), "\(shown)")
  }

  @Test("UTF-16 needs no media type (XML 1.0 §4.3.3)", arguments: [true, false])
  func utf16(isLittle: Bool) async throws {
    let text = """
      \u{FEFF}<?xml version="1.0" encoding="UTF-16"?><d:Name xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices"\
      >Grüße</d:Name>
      """
    let bytes = text.utf16.flatMap { unit in
      let (high, low) = (UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit))
      return isLittle ? [low, high] : [high, low]
    }
    let outcome = await Rig(input: bytes).run("payload", "--file", "-")
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(outcome.output.contains("Grüße"))
  }

  @Test(
    "A batch is reported as a batch, with a hint",
    arguments: ["", "HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"])
  func batch(head: String) async {
    let payload = head + "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--b--\r\n"
    let outcome = await Rig(input: Array(payload.utf8)).run("payload", "--file", "-")
    #expect(outcome.status == .storage)
    #expect(outcome.diagnostics.contains("-: this is a multipart batch, not one payload"))
  }
}
