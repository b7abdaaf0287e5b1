import LarderOData
import LarderODataXML
import Testing

@Suite("CSDL XML: types and properties", .timeLimit(.minutes(5)))
struct CSDLTypeTests {
  @Test(
    "Facets of a property (CSDL XML 4.01 §7.2)",
    arguments: [
      ("MaxLength='10'", "maxLength", "limit(10)"), ("MaxLength='max'", "maxLength", "max"),
      ("MaxLength='Max'", "maxLength", "max"), ("Precision='7'", "precision", "7"),
      ("Scale='2'", "scale", "digits(2)"), ("Scale='variable'", "scale", "variable"),
      ("Scale='Variable'", "scale", "variable"), ("Scale='floating'", "scale", "floating"),
      ("Unicode='false'", "unicode", "false"), ("SRID='4326'", "srid", "reference(4326)"),
      ("SRID='variable'", "srid", "variable"), ("FixedLength='true'", "fixedLength", "true"),
      ("Collation='de'", "collation", "de"),
    ])
  func facet(_ attribute: String, _ name: String, _ expected: String) throws {
    let model = try CSDLText.read(
      CSDLText.v4("<ComplexType Name='C'><Property Name='P' Type='Edm.String' \(attribute)/></ComplexType>"))
    let facets = try #require(model.structure("NS.C")?.property("P")).facets
    let texts: [String: String] = [
      "maxLength": facets.maxLength.map { "\($0)" } ?? "", "precision": facets.precision.map { "\($0)" } ?? "",
      "scale": facets.scale.map { "\($0)" } ?? "", "unicode": facets.isUnicode.map { "\($0)" } ?? "",
      "srid": facets.srid.map { "\($0)" } ?? "", "fixedLength": facets.isFixedLength.map { "\($0)" } ?? "",
      "collation": facets.collation ?? "",
    ]
    #expect(texts[name] == expected)
    #expect(texts.filter { $0.key != name && !$0.value.isEmpty }.isEmpty)
    #expect(model.diagnostics.isEmpty)
  }

  @Test(
    "A facet that cannot be read is left out with a diagnostic",
    arguments: [
      "MaxLength='-1'", "MaxLength='99999999999999999999'", "Precision='x'", "Scale=''", "Nullable='maybe'",
      "SRID='1.5'",
    ])
  func invalidFacet(_ attribute: String) throws {
    let model = try CSDLText.read(
      CSDLText.v4("<ComplexType Name='C'><Property Name='P' Type='Edm.String' \(attribute)/></ComplexType>"))
    let property = try #require(model.structure("NS.C")?.property("P"))
    #expect(property.facets == EdmFacets() && property.nullable == nil)
    #expect(model.diagnostics.map(\.kind) == [.invalidValue])
    #expect(model.diagnostics.first?.location.path.hasSuffix("Schema[NS]/ComplexType[C]/Property") == true)
  }

  @Test(
    "Type references (CSDL XML 4.01 §4; V1 to V3 CSDL)",
    arguments: [
      ("Edm.Int32", EdmTypeReference.primitive(.int32)), ("Int32", .primitive(.int32)),
      ("Collection(Edm.String)", .collection(.primitive(.string))), ("NS.C", .named("NS.C")),
      ("self.C", .named("NS.C")), ("Collection(self.C)", .collection(.named("NS.C"))),
      ("Edm.Untyped", .abstract(.untyped)), ("Collection(Edm.ComplexType)", .collection(.abstract(.complexType))),
      ("Edm.GeographyPoint", .primitive(.geographyPoint)), (" Edm.Guid ", .primitive(.guid)),
    ])
  func typeReference(_ text: String, _ expected: EdmTypeReference) throws {
    let model = try CSDLText.read(
      CSDLText.v4("<ComplexType Name='C'><Property Name='P' Type='\(text)'/></ComplexType>"))
    #expect(model.structure("NS.C")?.property("P")?.type == expected)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("Inheritance: members, key, openness and streams come from base types (§6.2 to §6.5)")
  func inheritance() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='B' BaseType='self.A'><Property Name='b' Type='Edm.Int32'/></EntityType>
        <EntityType Name='A' Abstract='true' OpenType='true' HasStream='true'>
          <Key><PropertyRef Name='id'/><PropertyRef Name='c/d' Alias='cd'/></Key>
          <Property Name='id' Type='Edm.String' Nullable='false'/><NavigationProperty Name='n' Type='NS.B'/>
        </EntityType>
        <EntityType Name='C' BaseType='NS.B'/>
        """))
    let type = try #require(model.structure("self.C"))
    #expect(type.properties.map(\.name) == ["id", "b"])
    #expect(type.property("id")?.isNullable == false && type.property("b")?.isNullable == true)
    #expect(type.navigationProperty("n")?.multiplicity == .zeroOrOne)
    #expect(model.key(of: "NS.C").map(\.name) == ["id", "cd"])
    #expect(type.isOpen && type.hasStream && !type.isAbstract)
    #expect(model.isType("NS.C", derivedFrom: "self.A") && !model.isType("NS.A", derivedFrom: "NS.C"))
    #expect(model.diagnostics.isEmpty)
  }

  @Test("A type that derives from itself is read, with a diagnostic, and look-ups terminate")
  func circularBase() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        "<EntityType Name='A' BaseType='NS.B'/><EntityType Name='B' BaseType='NS.C'/><EntityType Name='C' BaseType='NS.A'/>"
          + "<ComplexType Name='S' BaseType='NS.S'><Property Name='p' Type='Edm.Int32'/></ComplexType>"))
    #expect(model.diagnostics.filter { $0.kind == .circularBaseType }.count == 2)
    #expect(model.structure("NS.A") != nil && model.structure("NS.S")?.property("p") != nil)
    #expect(!model.isType("NS.S", derivedFrom: "NS.A"))
  }

  @Test("A chain of 100 types is read; one of 101, and of 5,000, is rejected", arguments: [100, 101, 5000])
  func longChain(_ count: Int) throws {
    let types = (1..<count).map { "<ComplexType Name='T\($0)' BaseType='NS.T\($0 - 1)'/>" }
    for types in [types, types.reversed()] {
      let text = CSDLText.v4(
        types.joined() + "<ComplexType Name='T0'><Property Name='p' Type='Edm.Int32'/></ComplexType>")
      if count == 100 {
        #expect(try CSDLText.read(text).structure("NS.T99")?.property("p") != nil)
      } else {
        #expect { try CSDLText.read(text) } throws: {
          ($0 as? MetadataError)?.reason == .tooDeep && "\($0)".contains("derives from more than 99 other types")
        }
      }
    }
  }

  @Test("Members of enumerations without a value count up (§10.3)")
  func enumMembers() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EnumType Name='E' UnderlyingType='Edm.Byte' IsFlags='true'><Member Name='a'/><Member Name='b' Value='4'/>
        <Member Name='c'/></EnumType><EnumType Name='F'><Member Name='x' Value='9223372036854775807'/><Member Name='y'/>
        </EnumType>
        """))
    let type = try #require(model.enumType("self.E"))
    #expect(type.members.map(\.value) == [0, 4, 5] && type.isFlags && type.underlyingType == .byte)
    #expect(type.member(value: 5)?.name == "c")
    #expect(model.enumType("NS.F")?.underlyingType == .int32)
  }

  @Test("A type definition resolves to its primitive type and facets (§11)")
  func typeDefinition() throws {
    let model = try CSDLText.read(
      CSDLText.v4("<TypeDefinition Name='Length' UnderlyingType='Edm.Decimal' Precision='9' Scale='3'/>"))
    let resolved = model.underlying(.collection(.named("self.Length")))
    #expect(resolved.type == .collection(.primitive(.decimal)))
    #expect(resolved.facets.precision == 9 && resolved.facets.scale == .digits(3))
  }

  @Test("Operations keep overloads, binding and return types (§12)")
  func operations() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='P'/>
        <Function Name='f' IsBound='true' IsComposable='true' EntitySetPath='p/q'><Parameter Name='p' Type='NS.P'/>
          <ReturnType Type='Collection(self.P)' Nullable='false'/></Function>
        <Function Name='f'><ReturnType Type='Edm.Decimal' Scale='variable'/></Function>
        <Action Name='a'><Parameter Name='x' Type='Edm.Int32' Nullable='false'/></Action>
        <EntityContainer Name='C'><FunctionImport Name='f' Function='self.f' EntitySet='Ps'
          IncludeInServiceDocument='true'/><ActionImport Name='a' Action='NS.a'/></EntityContainer>
        """))
    let functions = model.functions("self.f")
    #expect(functions.map(\.isBound) == [true, false])
    #expect(functions.first?.returnType?.type == .collection(.named("NS.P")))
    #expect(functions.first?.entitySetPath == "p/q" && functions.first?.isComposable == true)
    #expect(functions.last?.returnType?.facets.scale == .variable)
    #expect(model.actions("NS.a").first?.parameters.first?.isNullable == false)
    #expect(model.functionImport("f")?.function == "NS.f" && model.actionImport("a")?.action == "NS.a")
    #expect(model.functionImport("f")?.includeInServiceDocument == true)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("Containers: sets, singletons, bindings, extension (§13)")
  func containers() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='P'><NavigationProperty Name='n' Type='Collection(NS.P)' Partner='n' ContainsTarget='true'>
          <ReferentialConstraint Property='a' ReferencedProperty='b'/><OnDelete Action='Cascade'/></NavigationProperty>
        </EntityType>
        <EntityContainer Name='Base'><EntitySet Name='Old' EntityType='self.P' IncludeInServiceDocument='false'/>
        </EntityContainer>
        <EntityContainer Name='C' Extends='self.Base'><EntitySet Name='Ps' EntityType='self.P'>
          <NavigationPropertyBinding Path='n/self.P/n' Target='Ps'/></EntitySet>
          <Singleton Name='Me' Type='self.P' Nullable='true'/></EntityContainer>
        """))
    let container = try #require(model.container("self.C"))
    #expect(container.extends == "NS.Base")
    #expect(model.entitySet("Ps")?.entityType == "NS.P" && model.entityType(of: "Me")?.name == "P")
    #expect(model.target(of: "n/NS.P/n", from: "Ps") == "Ps")
    #expect(model.entitySet("C.Old")?.includeInServiceDocument == false)
    let navigation = try #require(model.structure("NS.P")?.navigationProperty("n"))
    #expect(navigation.containsTarget && navigation.multiplicity == .many && navigation.partner == "n")
    #expect(navigation.referentialConstraints.first?.referencedProperty == "b")
    #expect(navigation.onDelete?.action == "Cascade")
  }

  @Test("References with includes, and aliases of foreign schemas (§3.3, §4.2, §4.3)")
  func references() throws {
    let model = try CSDLText.read(
      """
      <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
      <edmx:Reference Uri="http://v/Core"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
      <edmx:IncludeAnnotations TermNamespace="t" Qualifier="q" TargetNamespace="n"/></edmx:Reference>
      <edmx:DataServices><Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="NS">
      <EntityType Name="E"><Property Name="p" Type="Core.Tag"><Annotation Term="Core.Computed" Bool="true"/></Property>
      </EntityType></Schema></edmx:DataServices></edmx:Edmx>
      """)
    #expect(model.references.first?.uri == "http://v/Core" && model.version == .v4)
    #expect(
      model.references.first?.includeAnnotations == [
        EdmIncludeAnnotations(termNamespace: "t", qualifier: "q", targetNamespace: "n")
      ])
    let property = try #require(model.structure("NS.E")?.property("p"))
    #expect(property.type == .named("Org.OData.Core.V1.Tag"))
    #expect(property.annotation("Org.OData.Core.V1.Computed")?.value?.bool == true)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("Oddities are reported with their position, and the rest is read")
  func oddities() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='E' Colour='red'><Property Name='p' Type='NS.Missing'/><Property Type='Edm.Int32'/>
        <Property Name='u'/><Gadget><Property Name='inside' Type='Edm.Int32'/></Gadget></EntityType><EntityType Name='E'/>
        <x:thing xmlns:x='urn:x'/>
        """))
    #expect(
      model.diagnostics.map(\.kind) == [
        .unknownAttribute, .missingAttribute, .missingAttribute, .unknownElement, .foreignElement, .unresolvedName,
        .duplicateName,
      ])
    #expect(model.diagnostics.first?.location.line == 3)
    let type = try #require(model.entityType("NS.E"))
    #expect(type.foreignAttributes == [EdmForeignAttribute(namespace: "", name: "Colour", value: "red")])
    #expect(type.properties.map(\.name) == ["p", "u"])
  }

  @Test("Two children of a container with one name are reported, with both kinds (§13)")
  func duplicateChildren() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='E'><Key><PropertyRef Name='k'/></Key><Property Name='k' Type='Edm.Int32'/></EntityType>
        <Function Name='F'><ReturnType Type='Edm.Int32'/></Function><Action Name='A'/>
        <EntityContainer Name='C'><EntitySet Name='a' EntityType='self.E'/><EntitySet Name='a' EntityType='self.E'/>
        <Singleton Name='a' Type='self.E'/><Singleton Name='s' Type='self.E'/><Singleton Name='s' Type='self.E'/>
        <FunctionImport Name='f' Function='self.F'/><FunctionImport Name='f' Function='self.F'/>
        <ActionImport Name='f' Action='self.A'/><ActionImport Name='x' Action='self.A'/></EntityContainer>
        """))
    #expect(
      model.diagnostics.map(\.message) == [
        "the entity set a is declared twice", "a is entity set and singleton", "the singleton s is declared twice",
        "the function import f is declared twice", "f is function import and action import",
      ])
    #expect(model.diagnostics.allSatisfy { $0.kind == .duplicateName && $0.location.path.hasPrefix("NS.C/") })
    // Before V4, imports of one name are overloads ([MC-CSDL] §2.1.20).
    let overloads = try CSDLText.read(
      CSDLText.v2("<EntityContainer Name='C'><FunctionImport Name='f'/><FunctionImport Name='f'/></EntityContainer>"))
    #expect(overloads.diagnostics.isEmpty)
  }
}
