import LarderOData
import Testing

@Suite("CSDL JSON", .timeLimit(.minutes(5)))
struct CSDLJSONTests {
  private static func read(_ text: String) throws(MetadataError) -> EdmModel {
    try CSDLJSONReader.read(Array(text.utf8))
  }

  private static func schema(_ content: String) throws(MetadataError) -> EdmModel {
    try read("{\"$Version\":\"4.01\",\"NS\":{\"$Alias\":\"self\",\(content)}}")
  }

  @Test("A document with references and a container (CSDL JSON 4.01 §3, §4, §13)")
  func document() throws {
    let model = try Self.read(
      """
      {"$Version":"4.0","$EntityContainer":"self.C",
       "$Reference":{"http://v/Core@1":{"$Include":[{"$Namespace":"Org.OData.Core.V1","$Alias":"Core","@Core.Note":"n"}],
         "$IncludeAnnotations":[{"$TermNamespace":"t","$Qualifier":"q"}]}},
       "NS":{"$Alias":"self",
        "E":{"$Kind":"EntityType","$Key":["id",{"cd":"c/d"}],"id":{"$Type":"Edm.Int32"},
         "n":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"self.E","$Partner":"m",
           "$ReferentialConstraint":{"a":"b","a@Core.Note":"x"},"$OnDelete":"Cascade","$OnDelete@Core.Note":"y"}},
        "C":{"$Kind":"EntityContainer",
         "Es":{"$Collection":true,"$Type":"self.E","$NavigationPropertyBinding":{"n":"Es"},"$IncludeInServiceDocument":false},
         "Me":{"$Type":"self.E","$Nullable":true},"a":{"$Action":"self.act"},
         "f":{"$Function":"self.fun","$EntitySet":"Es"}},
        "act":[{"$Kind":"Action","$IsBound":true,"$Parameter":[{"$Name":"p","$Type":"self.E"}]}],
        "fun":[{"$Kind":"Function","$IsComposable":true,"$ReturnType":{"$Collection":true,"$Type":"self.E","$Nullable":true}}]}}
      """)
    #expect(model.version == .v4 && model.diagnostics.isEmpty)
    #expect(model.references.first?.uri == "http://v/Core@1")
    #expect(model.references.first?.includes.first?.annotations.first?.term == "Org.OData.Core.V1.Note")
    #expect(model.references.first?.includeAnnotations.first?.qualifier == "q")
    #expect(model.defaultContainer?.qualifiedName == "NS.C" && model.defaultContainer?.isDefault == true)
    #expect(model.key(of: "self.E") == [EdmPropertyRef(path: "id"), EdmPropertyRef(path: "c/d", alias: "cd")])
    let navigation = try #require(model.structure("NS.E")?.navigationProperty("n"))
    #expect(navigation.type == .collection(.named("NS.E")) && navigation.onDelete?.action == "Cascade")
    #expect(navigation.onDelete?.annotations.first?.value?.string == "y")
    #expect(navigation.onDelete?.annotations.first?.term == "Org.OData.Core.V1.Note")
    #expect(navigation.referentialConstraints.first?.annotations.first?.term == "Org.OData.Core.V1.Note")
    #expect(model.target(of: "n", from: "Es") == "Es" && model.entitySet("Es")?.includeInServiceDocument == false)
    #expect(model.singleton("Me")?.nullable == true)
    #expect(model.actionImport("a")?.action == "NS.act" && model.functionImport("f")?.entitySet == "Es")
    #expect(model.actions("NS.act").first?.parameters.first?.type == .named("NS.E"))
    #expect(model.functions("NS.fun").first?.returnType?.isNullable == true)
  }

  @Test(
    "Properties: omitted members have the defaults of CSDL JSON (§7.1, §7.2)",
    arguments: [
      ("{}", "Edm.String", false), ("{\"$Nullable\":true}", "Edm.String", true),
      ("{\"$Type\":\"Edm.Decimal\",\"$Precision\":9,\"$Scale\":\"variable\"}", "Edm.Decimal", false),
      ("{\"$Collection\":true,\"$Type\":\"self.T\"}", "Collection(NS.T)", false),
      ("{\"$Type\":\"Edm.GeographyPoint\",\"$SRID\":\"0\"}", "Edm.GeographyPoint", false),
    ])
  func property(_ text: String, _ type: String, _ isNullable: Bool) throws {
    let model = try Self.schema("\"T\":{\"$Kind\":\"ComplexType\",\"p\":\(text)}")
    let property = try #require(model.structure("self.T")?.property("p"))
    #expect(property.type.description == type && property.isNullable == isNullable)
    #expect(model.diagnostics.isEmpty)
    if text.contains("$Scale") { #expect(property.facets.scale == .variable && property.facets.precision == 9) }
    if text.contains("$SRID") { #expect(property.facets.srid == .reference(0)) }
  }

  @Test(
    "Words of facets are in any letter case (§7.2); an omitted scale is variable (§7.2.4)",
    arguments: [
      ("\"$Scale\":\"Variable\"", .variable), ("\"$Scale\":\"FLOATING\"", .floating), ("\"$Scale\":2", .digits(2)),
      ("\"$Scale\":\"3\"", .digits(3)), ("\"$Precision\":5", .variable),
    ] as [(String, EdmScale)])
  func facets(_ text: String, _ scale: EdmScale) throws {
    let value = "\"$Type\":\"Edm.Decimal\",\(text)"
    let model = try Self.schema(
      """
      "T":{"$Kind":"ComplexType","p":{\(value)},"many":{"$Collection":true,\(value)},
        "t":{"$MaxLength":"MAX"},"g":{"$Type":"Edm.GeometryPoint","$SRID":"VARIABLE"},"i":{"$Type":"Edm.Int32"}},
      "D":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal",\(text)},
      "f":[{"$Kind":"Function","$Parameter":[{"$Name":"p",\(value)}],"$ReturnType":{\(value)}}]
      """)
    let type = try #require(model.structure("NS.T"))
    let function = try #require(model.functions("NS.f").first)
    #expect(type.property("p")?.facets.scale == scale && type.property("many")?.facets.scale == scale)
    #expect(model.typeDefinition("NS.D")?.facets.scale == scale)
    #expect(function.parameters.first?.facets.scale == scale && function.returnType?.facets.scale == scale)
    #expect(type.property("t")?.facets.maxLength == .max && type.property("g")?.facets.srid == .variable)
    #expect(type.property("i")?.facets == EdmFacets() && type.property("t")?.facets.scale == nil)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("A member that occurs twice is reported with its position, and the first one is used")
  func repeated() throws {
    let model = try Self.read(
      """
      {"$Version":"4.01","$Version":"4.0","$Reference":{"u":{"$Include":[]},"u":{}},
       "NS":{"T":{"$Kind":"ComplexType","p":{"$Type":"Edm.Int32","$Type":"Edm.Int64"},"p":{},"@NS.A":{"x":1,"x":2}},
         "T":{"$Kind":"EntityType"},"C":{"$Kind":"EntityContainer","S":{"$Type":"NS.E","$Collection":true,
           "$NavigationPropertyBinding":{"n":"S","n":"R"}}}},
       "NS":{}}
      """)
    #expect(model.version == .v401 && model.references.map(\.uri) == ["u"])
    #expect(model.structure("NS.T")?.properties.map(\.type) == [.primitive(.int32)])
    #expect(model.complexType("NS.T")?.annotations.first?.value?["x"]?.int == 1 && model.entityType("NS.T") == nil)
    #expect(model.target(of: "n", from: "S") == "S")
    let repeated = model.diagnostics.filter { $0.kind == .duplicateName }
    #expect(
      repeated.map(\.location.path).sorted() == [
        "", "", "/$Reference", "/NS", "/NS/C/S/$NavigationPropertyBinding", "/NS/T", "/NS/T/@NS.A", "/NS/T/p",
      ])
    #expect(repeated.contains { $0.message == "$Type occurs twice in this object; the first one is used" })
  }

  @Test(
    "A child of the container whose $Kind and other members disagree is read with a diagnostic that says how it was read (§13)",
    arguments: [
      ("\"$Kind\":\"EntitySet\"", true, "read as an entity set"),
      ("\"$Kind\":\"EntitySet\",\"$Collection\":false", false, "those of Singleton: it was read as Singleton"),
      ("\"$Kind\":\"Singleton\",\"$Collection\":true", true, "those of EntitySet: it was read as EntitySet"),
      ("\"$Kind\":\"Singleton\"", false, nil), ("\"$Kind\":\"EntitySet\",\"$Collection\":true", true, nil),
      ("\"$Collection\":true", true, nil), ("\"$Kind\":\"ActionImport\"", false, "those of Singleton"),
    ] as [(String, Bool, String?)])
  func kinds(_ text: String, _ isSet: Bool, _ message: String?) throws {
    let model = try Self.schema(
      "\"E\":{\"$Kind\":\"EntityType\"},\"C\":{\"$Kind\":\"EntityContainer\",\"S\":{\(text),\"$Type\":\"NS.E\"}}")
    #expect((model.entitySet("S") != nil) == isSet && (model.singleton("S") != nil) == !isSet)
    #expect(model.diagnostics.map(\.location.path) == (message == nil ? [] : ["/NS/C/S"]))
    #expect(model.diagnostics.first?.message.contains(message ?? "") ?? true, "\(model.diagnostics)")
  }

  @Test("A hundred types may derive from each other; one more is rejected", arguments: ["EntityType", "ComplexType"])
  func inheritance(_ kind: String) throws {
    func text(_ count: Int) -> String {
      (0..<count).map {
        "\"T\($0)\":{\"$Kind\":\"\(kind)\"" + ($0 == 0 ? "}" : ",\"$BaseType\":\"NS.T\($0 - 1)\"}")
      }.joined(separator: ",")
    }
    #expect(try Self.schema(text(100)).structure("NS.T99")?.chain.count == 100)
    #expect { try Self.schema(text(101)) } throws: {
      let error = $0 as? MetadataError
      return error?.reason == .tooDeep && error?.location.path == "NS.T100"
    }
  }

  @Test(
    "Annotation expressions (§14.3, §14.4)",
    arguments: [
      ("null", EdmExpression.null), ("true", .constant(.bool, "true")), ("42", .constant(.int, "42")),
      ("3.14", .constant(.decimal, "3.14")), ("1e3", .constant(.float, "1e3")), ("\"s\"", .constant(.string, "s")),
      ("[1,2]", .collection([.constant(.int, "1"), .constant(.int, "2")])),
      ("{\"$Path\":\"a/b\"}", .path(.value, "a/b")),
      ("{\"$And\":[true,false]}", .operation(.and, [.constant(.bool, "true"), .constant(.bool, "false")])),
      ("{\"$Not\":{\"$Path\":\"a\"}}", .operation(.not, [.path(.value, "a")])),
      (
        "{\"$Apply\":[\"x\"],\"$Function\":\"odata.concat\"}",
        .apply(function: "odata.concat", [.constant(.string, "x")])
      ),
      (
        "{\"$Cast\":{\"$Path\":\"a\"},\"$Type\":\"Edm.Decimal\"}",
        .cast(.primitive(.decimal), EdmFacets(), .path(.value, "a"))
      ),
      ("{\"$IsOf\":null,\"$Type\":\"self.T\"}", .isOf(.named("NS.T"), EdmFacets(), .null)),
      ("{\"$If\":[true,1]}", .conditional([.constant(.bool, "true"), .constant(.int, "1")])),
      ("{\"$LabeledElement\":1,\"$Name\":\"l\"}", .labeledElement(name: "l", .constant(.int, "1"))),
      ("{\"$LabeledElementReference\":\"NS.l\"}", .labeledElementReference("NS.l")),
      ("{\"$UrlRef\":\"u\"}", .urlRef(.constant(.string, "u"))),
      (
        "{\"$Null\":null,\"@self.N\":1}",
        .annotated(.null, [EdmAnnotation(term: "NS.N", expression: .constant(.int, "1"))])
      ),
      (
        "{\"@type\":\"https://x#self.R\",\"p\":1}",
        .record(type: "NS.R", [EdmPropertyValue(property: "p", value: .constant(.int, "1"))])
      ),
    ])
  func expression(_ text: String, _ expected: EdmExpression) throws {
    let model = try Self.schema("\"T\":{\"$Kind\":\"ComplexType\",\"@self.A#q\":\(text)}")
    #expect(model.complexType("NS.T")?.annotation("NS.A", qualifier: "q")?.expression == expected)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("The value of an annotation has the text of constants and paths, and the properties of records")
  func annotationValues() throws {
    let model = try Self.schema(
      """
      "T":{"$Kind":"ComplexType","@self.A":{"@self.N":1,"p":{"$Path":"a/b"},"d":1.5,"s":["x","y"],"n":null}}
      """)
    let value = try #require(model.complexType("NS.T")?.annotation("NS.A")?.value)
    #expect(value["p"]?.text == "a/b" && value["p"]?.string == nil)
    #expect(value["d"]?.text == "1.5" && value["d"]?.int == nil)
    #expect(value["s"]?.items?.map(\.string) == ["x", "y"])
    #expect(value.text == nil && value["n"]?.text == nil && value["absent"] == nil)
  }

  @Test("Annotations on annotations, next to members, and separate (§14.2, §14.3)")
  func annotations() throws {
    let model = try Self.schema(
      """
      "E":{"$Kind":"EnumType","$IsFlags":true,"$UnderlyingType":"Edm.Int16","a":1,"a@self.N":"first","b":2,
        "@self.X@self.Y":5,"@self.X":4},
      "$Annotations":{"self.E/b":{"@self.N#q":"second"}}
      """)
    let type = try #require(model.enumType("NS.E"))
    #expect(type.members.map(\.value) == [1, 2] && type.isFlags && type.underlyingType == .int16)
    #expect(type.member("a")?.annotation("NS.N")?.value?.string == "first")
    #expect(type.annotation("NS.X")?.value?.int == 4)
    #expect(type.annotation("NS.X")?.annotations.first?.value?.int == 5)
    #expect(model.annotation("NS.N", qualifier: "q", target: "NS.E/b")?.value?.string == "second")
    #expect(model.diagnostics.isEmpty)
  }

  @Test("Oddities are reported with a pointer, and kept")
  func oddities() throws {
    let model = try Self.schema(
      """
      "T":{"$Kind":"ComplexType","$Colour":{"r":1},"p":{"$MaxLength":-1},"q":7,"zz@self.A":1},"U":{"$Kind":"Gadget"},"V":{}
      """)
    #expect(
      model.diagnostics.map(\.kind) == [
        .unresolvedName, .unknownAttribute, .invalidValue, .invalidValue, .unknownElement, .missingAttribute,
      ])
    #expect(model.diagnostics[2].location.path == "/NS/T/p")
    #expect(model.complexType("NS.T")?.foreignAttributes.first?.value == "{\"r\":1}")
  }

  @Test(
    "A control member with a value of the wrong JSON type is reported, not dropped in silence",
    arguments: [
      (#""f":[{"$Kind":"Function","$Parameter":{"$Name":"p"}}]"#, "/NS/f"),
      (
        #""E":{"$Kind":"EntityType","$Key":["id"],"id":{}},"C":{"$Kind":"EntityContainer","#
          + #""Es":{"$Collection":true,"$Type":"self.E","$NavigationPropertyBinding":[]}}"#,
        "/NS/C/Es"
      ),
      (#""E":{"$Kind":"EntityType","$Key":"id","id":{}}"#, "/NS/E"),
      (#""T":{"$Kind":"Term","$AppliesTo":"Property"}"#, "/NS/T"), (#""T":{"$Kind":"Term","$AppliesTo":[1]}"#, "/NS/T"),
      (#""T":{"$Kind":"Term","$DefaultValue":[]}"#, "/NS/T"), (#""$Annotations":[]"#, "/NS"),
    ])
  func wrongTypes(_ content: String, _ path: String) throws {
    let diagnostics = try Self.schema(content).diagnostics
    #expect(diagnostics.map(\.kind) == [.invalidValue], "\(diagnostics)")
    #expect(diagnostics.first?.location.path == path)
  }

  @Test("The lists of a reference must be arrays", arguments: ["$Include", "$IncludeAnnotations"])
  func wrongReference(_ name: String) throws {
    let model = try Self.read("{\"$Version\":\"4.01\",\"$Reference\":{\"http://v\":{\"\(name)\":{}}}}")
    #expect(model.diagnostics.map(\.kind) == [.invalidValue])
    #expect(model.diagnostics.first?.location.path == "/$Reference/http://v")
  }

  @Test("An overload without $Kind is reported as such")
  func overloadWithoutKind() throws {
    let diagnostics = try Self.schema(#""f":[{"$IsBound":true}]"#).diagnostics
    #expect(diagnostics.map(\.message) == ["an overload of f has no $Kind; it was ignored"])
  }

  @Test(
    "Other and broken documents are rejected with their reason",
    arguments: [
      ("", MetadataError.Reason.empty), ("{", .truncated), ("{\"$Version\":\"4.01\",}", .malformed),
      ("{\"error\":{}}", .notMetadata), ("[]", .notMetadata), ("{\"@odata.context\":\"x\",\"value\":[]}", .notMetadata),
      ("{\"$Version\":\"4.01\",\"N\":1 2}", .malformed),
    ])
  func rejected(_ text: String, _ reason: MetadataError.Reason) {
    #expect { try Self.read(text) } throws: { ($0 as? MetadataError)?.reason == reason }
  }

  @Test("100,000 nested values give a typed error, and 20,000 annotations are read in linear time")
  func hostile() throws {
    let deep = "{\"$Version\":\"4.01\",\"NS\":{\"@A\":" + String(repeating: "[", count: 100_000)
    #expect { try Self.read(deep) } throws: { ($0 as? MetadataError)?.reason == .tooDeep }
    let many = (0..<20_000).map { "\"@T.A\($0)\":1" }.joined(separator: ",")
    let model = try Self.schema("\"T\":{\"$Kind\":\"ComplexType\",\(many)}")
    #expect(model.complexType("NS.T")?.annotations.count == 20_000)
    let steps = String(repeating: "@a", count: 100_000)
    #expect(try Self.schema("\"\(steps)\":1").diagnostics.map(\.kind) == [.invalidValue])
  }

  @Test("Every truncation and many random changes give a model or a typed error", arguments: [11, 12] as [UInt64])
  func random(_ seed: UInt64) {
    print("seed \(seed)")
    let text =
      "{\"$Version\":\"4.01\",\"N\":{\"T\":{\"$Kind\":\"EntityType\",\"$Key\":[\"p\"],\"p\":{},\"@A#q\":{\"a\":[1]}}}}"
    let bytes = Array(text.utf8)
    for end in bytes.indices { #expect(throws: MetadataError.self) { try CSDLJSONReader.read(Array(bytes[..<end])) } }
    var state = seed
    for _ in 0..<2000 {
      var changed = bytes
      for _ in 0..<3 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        changed[Int(state >> 33) % changed.count] = UInt8(truncatingIfNeeded: state >> 24)
      }
      do { _ = try CSDLJSONReader.read(changed) } catch { #expect(!error.description.isEmpty) }
    }
  }
}
