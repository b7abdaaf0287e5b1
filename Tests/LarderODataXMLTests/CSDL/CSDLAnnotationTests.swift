import LarderOData
import LarderODataXML
import Testing

@Suite("CSDL XML: annotations", .timeLimit(.minutes(5)))
struct CSDLAnnotationTests {
  @Test(
    "Constants and paths, as attributes and as elements (CSDL XML 4.01 §14.3, §14.4.1)",
    arguments: [
      ("Binary", "T0RhdGE", EdmExpression.constant(.binary, "T0RhdGE")), ("Bool", "true", .constant(.bool, "true")),
      ("Date", "2000-01-01", .constant(.date, "2000-01-01")),
      ("DateTimeOffset", "2000-01-01T16:00:00.000Z", .constant(.dateTimeOffset, "2000-01-01T16:00:00.000Z")),
      ("Decimal", "3.14", .constant(.decimal, "3.14")), ("Duration", "P7D", .constant(.duration, "P7D")),
      (
        "EnumMember", "self.Pattern/Red self.Pattern/Striped",
        .constant(.enumMember, "NS.Pattern/Red NS.Pattern/Striped")
      ),
      ("Float", "INF", .constant(.float, "INF")),
      ("Guid", "21EC2020-3AEA-1069-A2DD-08002B30309D", .constant(.guid, "21EC2020-3AEA-1069-A2DD-08002B30309D")),
      ("Int", "42", .constant(.int, "42")), ("String", " as is ", .constant(.string, " as is ")),
      ("TimeOfDay", "21:45:00", .constant(.timeOfDay, "21:45:00")), ("Path", "@UI.x/y", .path(.value, "@UI.x/y")),
      ("AnnotationPath", "a/@T.B#q", .path(.annotation, "a/@T.B#q")),
      ("ModelElementPath", "/org.M", .path(.modelElement, "/org.M")),
      ("NavigationPropertyPath", "n", .path(.navigationProperty, "n")), ("PropertyPath", "p", .path(.property, "p")),
    ])
  func constants(_ name: String, _ text: String, _ expected: EdmExpression) throws {
    #expect(try CSDLText.annotation("\(name)='\(text)'/>")?.expression == expected)
    #expect(try CSDLText.annotation("><\(name)>\(text)</\(name)></Annotation>")?.expression == expected)
  }

  @Test(
    "Dynamic expressions (§14.4)",
    arguments: [
      (
        "<And><Path>a</Path><Bool>true</Bool></And>",
        EdmExpression.operation(.and, [.path(.value, "a"), .constant(.bool, "true")])
      ),
      ("<Not><Path>a</Path></Not>", .operation(.not, [.path(.value, "a")])),
      ("<Ge><Path>a</Path><Int>1</Int></Ge>", .operation(.greaterOrEqual, [.path(.value, "a"), .constant(.int, "1")])),
      (
        "<Has><Path>a</Path><EnumMember>self.E/X</EnumMember></Has>",
        .operation(.has, [.path(.value, "a"), .constant(.enumMember, "NS.E/X")])
      ),
      (
        "<In><Path>a</Path><Collection><Int>1</Int></Collection></In>",
        .operation(.in, [.path(.value, "a"), .collection([.constant(.int, "1")])])
      ),
      ("<DivBy><Path>a</Path><Path>b</Path></DivBy>", .operation(.divideBy, [.path(.value, "a"), .path(.value, "b")])),
      ("<Neg><Path>a</Path></Neg>", .operation(.negate, [.path(.value, "a")])),
      (
        "<Apply Function='odata.concat'><String>x</String><Path>a</Path></Apply>",
        .apply(function: "odata.concat", [.constant(.string, "x"), .path(.value, "a")])
      ),
      ("<Cast Type='Edm.Decimal'><Path>a</Path></Cast>", .cast(.primitive(.decimal), EdmFacets(), .path(.value, "a"))),
      ("<IsOf Type='self.E'><Path>a</Path></IsOf>", .isOf(.named("NS.E"), EdmFacets(), .path(.value, "a"))),
      ("<Collection/>", .collection([])),
      ("<If><Path>a</Path><Int>1</Int><Null/></If>", .conditional([.path(.value, "a"), .constant(.int, "1"), .null])),
      ("<LabeledElement Name='l' Path='a'/>", .labeledElement(name: "l", .path(.value, "a"))),
      ("<LabeledElementReference>NS.l</LabeledElementReference>", .labeledElementReference("NS.l")),
      ("<Null/>", .null), ("<UrlRef><Path>a</Path></UrlRef>", .urlRef(.path(.value, "a"))),
      (
        "<Record Type='self.R'><PropertyValue Property='p' Bool='true'/><PropertyValue Property='q'><Null/></PropertyValue></Record>",
        .record(
          type: "NS.R",
          [
            EdmPropertyValue(property: "p", value: .constant(.bool, "true")),
            EdmPropertyValue(property: "q", value: .null),
          ])
      ),
      (
        "<Null><Annotation Term='self.N' Int='1'/></Null>",
        .annotated(.null, [EdmAnnotation(term: "NS.N", expression: .constant(.int, "1"))])
      ),
    ])
  func dynamic(_ text: String, _ expected: EdmExpression) throws {
    #expect(try CSDLText.annotation(">\(text)</Annotation>")?.expression == expected)
  }

  @Test("Separate annotations, with qualifiers and aliases, are found with the inline ones (§14.2)")
  func targets() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='E'><Property Name='p' Type='Edm.Int32'><Annotation Term='self.In' Int='1'/></Property></EntityType>
        <EnumType Name='F'><Member Name='m'/></EnumType>
        <EntityContainer Name='C'><EntitySet Name='Es' EntityType='NS.E'/></EntityContainer>
        <Annotations Target='self.E/p' Qualifier='q'><Annotation Term='self.Out' Int='2'/></Annotations>
        <Annotations Target='self.C/Es'><Annotation Term='self.Set'><Annotation Term='self.Meta' Bool='true'/></Annotation></Annotations>
        <Annotations Target='self.f(self.E)/p'><Annotation Term='self.Par'/></Annotations>
        """))
    #expect(model.annotations(target: "self.E/p").map(\.term) == ["NS.In", "NS.Out"])
    #expect(model.annotation("self.Out", qualifier: "q", target: "NS.E/p")?.value?.int == 2)
    #expect(model.annotations(target: "NS.C/Es").first?.annotations.first?.term == "NS.Meta")
    #expect(model.annotations(target: "NS.f(NS.E)/p").count == 1)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("V3's ValueAnnotation and TypeAnnotation read as annotations")
  func thirdVersion() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        """
        <EntityType Name='E'><ValueAnnotation Term='T.V' Qualifier='q' String='s'/><TypeAnnotation Term='T.R'>
        <PropertyValue Property='a' Int='1'/><PropertyValue Property='b' Path='x'/></TypeAnnotation></EntityType>
        """, edm: "http://schemas.microsoft.com/ado/2009/11/edm"))
    let type = try #require(model.entityType("NS.E"))
    #expect(type.annotation("T.V", qualifier: "q")?.value?.string == "s")
    #expect(type.annotation("T.R")?.value?["a"]?.int == 1)
    #expect(model.version == .v3 && model.diagnostics.isEmpty)
  }

  @Test("Aliases are resolved everywhere in annotations")
  func aliases() throws {
    let note = "<Annotation Term='C.Note' String='n'/>"
    let text = """
      <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
      <edmx:Reference Uri="http://v"><edmx:Include Namespace="Long.Core" Alias="C">\(note)</edmx:Include>\(note)</edmx:Reference>
      <edmx:DataServices><Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="NS">
      <EntityType Name="E"><NavigationProperty Name="n" Type="NS.E"><OnDelete Action="Cascade">\(note)</OnDelete>
      </NavigationProperty></EntityType>
      <Association Name="A">\(note)<End Role="a" Type="NS.E" Multiplicity="1">\(note)<OnDelete Action="None">\(note)</OnDelete>
      </End><End Role="b" Type="NS.E" Multiplicity="*"/><ReferentialConstraint>\(note)
      <Principal Role="a"/><Dependent Role="b"/></ReferentialConstraint></Association>
      <EntityContainer Name="K"><EntitySet Name="S" EntityType="NS.E"/><AssociationSet Name="T" Association="NS.A">\(note)
      <End Role="a" EntitySet="S">\(note)</End><End Role="b" EntitySet="S"/></AssociationSet></EntityContainer>
      </Schema></edmx:DataServices></edmx:Edmx>
      """
    let model = try CSDLText.read(text)
    let association = try #require(model.association("NS.A"))
    let set = try #require(model.container("NS.K")?.associationSets.first)
    let annotations: [[EdmAnnotation]?] = [
      model.references.first?.annotations, model.references.first?.includes.first?.annotations,
      model.structure("NS.E")?.navigationProperty("n")?.onDelete?.annotations, association.annotations,
      association.ends.first?.annotations, association.ends.first?.onDelete?.annotations,
      association.referentialConstraint?.annotations, set.annotations, set.ends.first?.annotations,
    ]
    for annotations in annotations { #expect(annotations?.map(\.term) == ["Long.Core.Note"]) }
  }

  @Test("A second value and an unknown expression are reported, not lost")
  func odd() throws {
    let model = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='E'><Annotation Term='T.A' Int='1'><String>x</String></Annotation>
        <Annotation Term='T.B'><ParameterReference>p</ParameterReference></Annotation></EntityType>
        """))
    let type = try #require(model.entityType("NS.E"))
    #expect(type.annotation("T.A")?.value?.int == 1)
    #expect(type.annotation("T.B")?.expression == .unknown(element: "ParameterReference", text: "p"))
    #expect(model.diagnostics.map(\.kind) == [.invalidValue, .unknownElement])
  }

  @Test(
    "Text where only elements belong is reported once, with its position; white space is ignored",
    arguments: [
      ("<Annotation Term='T.A'>true</Annotation>", "Annotation"),
      ("<Annotation Term='T.A'> x &amp; y <Null/> z</Annotation>", "Annotation"),
      ("<Annotation Term='T.A'><Record>x</Record></Annotation>", "Record"), ("Key", "EntityType"),
      ("<Annotation Term='T.A'>\n \t<Null/>\r\n</Annotation>", nil),
      ("<Annotation Term='T.A'><String>x</String></Annotation>", nil),
    ])
  func strayText(_ content: String, _ place: String?) throws {
    let model = try CSDLText.read(CSDLText.v4("<EntityType Name='E'>\n\(content)</EntityType>"))
    #expect(model.diagnostics.map(\.kind) == (place == nil ? [] : [.unexpectedText]))
    #expect(model.diagnostics.first?.message.hasPrefix(place ?? "") ?? true)
    #expect(model.diagnostics.first.map { $0.location.line ?? 0 >= 3 } ?? true)
    #expect(model.entityType("NS.E") != nil)
  }
}
