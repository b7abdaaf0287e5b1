import Foundation
import LarderHTTP
import LarderOData
import LarderODataXML
import Testing

@testable import LarderService

@Suite("Payloads of requests and responses", .timeLimit(.minutes(5)))
struct PayloadTests {
  static let model = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>\
    <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="P"><Key>\
    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>\
    <Property Name="Price" Type="Edm.Decimal" Scale="variable"/><Property Name="Tags" Type="Collection(Edm.String)"/>\
    <NavigationProperty Name="Next" Type="S.P"/><NavigationProperty Name="Parts" Type="Collection(S.P)"/></EntityType>\
    <EntityType Name="Q" BaseType="S.P"/>\
    <Function Name="Best" IsBound="true"><Parameter Name="it" Type="Collection(S.P)"/><ReturnType Type="S.P"/></Function>\
    <Function Name="Sum"><ReturnType Type="Edm.Decimal"/></Function>\
    <Action Name="Buy" IsBound="true"><Parameter Name="it" Type="S.P"/><Parameter Name="N" Type="Edm.Int32"/></Action>\
    <EntityContainer Name="C"><EntitySet Name="P" EntityType="S.P"/><Singleton Name="Me" Type="S.P"/>\
    <FunctionImport Name="Sum" Function="S.Sum"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test("entities, properties, parameters and references are written in the format of the service's version")
  func bodies() async throws {
    let transport = FakeTransport { request, _ throws(HTTPTransportError) in
      request.url.path().hasSuffix("$metadata")
        ? FakeResponse(200, [.contentType: "application/xml"], Self.model)
        : FakeResponse(204)
    }
    let service = try conversation(transport)
    let entity = ODataEntity(properties: [ODataProperty("ID", .int32(1))])
    var create = ODataSingleRequest.create(entity, in: "P")
    create.returnPreference = .minimal
    let requests: [(ODataSingleRequest, String)] = [
      (create, #"POST /sap/S/P {"ID":1}"#),
      (.update("P(1)", to: entity, ifMatch: "*"), #"PATCH /sap/S/P(1) {"ID":1}"#),
      (
        ODataSingleRequest(.update(.replace), "P(1)/Price", body: .properties([ODataProperty("Price", .int32(2))])),
        #"PUT /sap/S/P(1)/Price {"value":2}"#
      ),
      (.invokeAction("P(1)/S.Buy", parameters: [ODataProperty("N", .int32(3))]), #"POST /sap/S/P(1)/S.Buy {"N":3}"#),
      (
        .createLink("P(1)/Parts/$ref", to: "P(2)"),
        #"POST /sap/S/P(1)/Parts/$ref {"@odata.id":"https://erp.example/sap/S/P(2)"}"#
      ),
      (.deleteLink("P(1)/Next/$ref"), "DELETE /sap/S/P(1)/Next/$ref "),
    ]
    for (request, expected) in requests {
      _ = try await service.send(request)
      let sent = try #require(transport.requests.last)
      #expect("\(sent.method) \(sent.url.path()) \(sent.body.text)".replacing("\\/", with: "/") == expected)
      #expect(sent.fields[.odataVersion] == (sent.body.text.isEmpty ? nil : "4.0"))
    }
    #expect(transport.requests[1].fields[.prefer] == "return=minimal")
    #expect(transport.requests.count { $0.url.path().hasSuffix("$metadata") } == 1)
  }

  // [MS-ODATA] §2.2.3.6.5
  @Test("V3: the parameters of an action are members of one object in the body")
  func actionsOfV3() async throws {
    let model = """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
        xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
      <edmx:DataServices m:DataServiceVersion="3.0"><Schema Namespace="S"
        xmlns="http://schemas.microsoft.com/ado/2009/11/edm">
      <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType><ComplexType Name="A"><Property Name="City" Type="Edm.String"/></ComplexType>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Ps" EntityType="S.P"/>
        <FunctionImport Name="Raise"><Parameter Name="Percent" Type="Edm.Int32"/><Parameter Name="To" Type="S.A"/>
        <Parameter Name="IDs" Type="Collection(Edm.Int64)"/></FunctionImport></EntityContainer></Schema>
      </edmx:DataServices></edmx:Edmx>
      """
    let transport = FakeTransport { request, _ throws(HTTPTransportError) in
      request.url.path().hasSuffix("$metadata")
        ? FakeResponse(200, [.contentType: "application/xml"], model) : FakeResponse(204)
    }
    let place = ODataValue.complex(ODataComplexValue(properties: [ODataProperty("City", .string("Ely"))]))
    _ = try await conversation(transport).send(
      .invokeAction(
        "Raise",
        parameters: [
          ODataProperty("Percent", .int32(5)), ODataProperty("To", place),
          ODataProperty("IDs", .collection([.int64(1)])),
        ]))
    let sent = try #require(transport.requests.last)
    #expect("\(sent.method) \(sent.url.path())" == "POST /sap/S/Raise" && sent.url.query() == nil)
    #expect(sent.body.text == #"{"Percent":5,"To":{"City":"Ely"},"IDs":{"results":["1"]}}"#)
    #expect(sent.fields[.contentType]?.hasPrefix("application/json") == true)
  }

  @Test(
    "the content is read by its media type",
    arguments: [
      ("P(1)", "application/json;odata.metadata=none", #"{"ID":1,"Price":1.50}"#, "entity"),
      ("P", "application/json", #"{"value":[{"ID":1}]}"#, "collection"),
      ("P/$count", "text/plain", "\u{FEFF}12", "count"),
      ("P(1)/Price/$value", "text/plain;charset=utf-8", "1.50", "string"), ("P(1)/$value", "image/png", "x", "binary"),
      ("P(1)/Next", "", "", "null"), ("P(1)/Price", "application/json", #"{"value":1.50}"#, "decimal"),
      ("P", "application/json", #"{"error":{"code":"x","message":"y"}}"#, "error"),
      ("P", "", #"{"value":[]}"#, "collection"),
      ("P", "application/json", "<html>", "malformed"), ("P", "application/json", #"{"value":[{"ID":1}"#, "malformed"),
      ("P", "multipart/mixed;boundary=x", "--x--", "malformed"), ("P/$count", "text/plain", "many", "malformed"),
    ])
  func reading(path: String, type: String, body: String, expected: String) throws {
    let model = try EdmModel.read(Array(Self.model.utf8))
    let response = ODataSingleResponse(
      httpStatus: 200, fields: type.isEmpty ? [:] : [.contentType: type], payloadBytes: Array(body.utf8),
      url: "https://h/s/\(path)", serviceVersion: .v4)
    let outcome: String
    do throws(ODataServiceError) {
      outcome =
        switch try response.payload(model: model) {
        case .entity: "entity"
        case .collection: "collection"
        case .count: "count"
        case .error: "error"
        case .property(let property):
          switch property.value {
          case .null: "null"
          case .string: "string"
          case .binary: "binary"
          case .decimal: "decimal"
          default: "another value"
          }
        default: "another payload"
        }
    } catch {
      guard case .malformedResponse = error.category else { throw error }
      outcome = "malformed"
    }
    #expect(outcome == expected)
  }
}

@Suite("A service that supports only Atom", .timeLimit(.minutes(5)))
struct AtomServiceTests {
  static let model = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices \
    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">\
    <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="P"><Key>\
    <PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>\
    <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="P" EntityType="S.P"/>\
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """
  static let entry = """
    <entry xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" \
    xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>x</id><content type="application/xml">\
    <m:properties><d:ID m:type="Edm.Int32">7</d:ID></m:properties></content></entry>
    """

  let transport = FakeTransport { request, _ throws(HTTPTransportError) in
    if request.url.path().hasSuffix("$metadata") {
      return FakeResponse(200, [.contentType: "application/xml"], Self.model)
    }
    let isJSON = (request.fields[.contentType] ?? request.fields[.accept])?.contains("json") ?? true
    if isJSON {
      return FakeResponse(
        415, [.contentType: "application/xml"],
        """
        <m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>C</m:code>\
        <m:message xml:lang="en">No JSON here</m:message></m:error>
        """)
    }
    return FakeResponse(request.method == .post ? 201 : 200, [.contentType: "application/atom+xml"], Self.entry)
  }

  @Test(
    "a change that is rejected because of its JSON is sent as an Atom entry; later requests use Atom; responses are parsed"
  )
  func change() async throws {
    let service = try conversation(transport)
    let entity = ODataEntity(properties: [ODataProperty("ID", .int32(7))])
    let response = try await service.send(.create(entity, in: "P"))
    guard case .entity(let created) = try response.payload(model: try await service.metadata()) else {
      Issue.record("no entity")
      return
    }
    #expect(created["ID"] == .int32(7))
    let sent = try #require(transport.requests.last)
    #expect(sent.fields[.contentType] == "application/atom+xml" && sent.body.text.contains("<entry"))
    let before = transport.requests.count
    _ = try await service.send(.read("P(7)"))
    #expect(transport.requests.count == before + 1)
    for body in [ODataRequestBody.properties([ODataProperty("N", .int32(1))]), .entity(entity)] {
      let request = ODataSingleRequest(.invokeAction, "P(7)", body: body)
      let action = await serviceError { _ = try await service.send(request) }
      guard case .notSupported? = action?.category else {
        Issue.record("another category: \(String(describing: action))")
        return
      }
    }
  }

  @Test("errors are parsed from XML")
  func errors() async throws {
    let service = try conversation(transport) { $0.fallsBackToAtom = false }
    let error = await serviceError { _ = try await service.send(.read("P")) }
    #expect(error?.payload?.code == "C")
    #expect(error?.payload?.message == "No JSON here")
  }
}
