import LarderOData
import LarderODataXML
import Testing

@Suite("CSDL XML: V1 to V3", .timeLimit(.minutes(5)))
struct CSDLVersionTests {
  private static let orders = """
    <EntityType Name='Order'><Key><PropertyRef Name='ID'/></Key>
      <Property Name='ID' Type='Edm.Int32' Nullable='false'/><Property Name='CustomerID' Type='Edm.String'/>
      <NavigationProperty Name='Customer' Relationship='NS.OC' FromRole='O' ToRole='C'/></EntityType>
    <EntityType Name='Customer'><Key><PropertyRef Name='ID'/></Key><Property Name='ID' Type='Edm.String' Nullable='false'/>
      <NavigationProperty Name='Orders' Relationship='NS.OC' FromRole='C' ToRole='O'/></EntityType>
    <Association Name='OC'><End Role='C' Type='NS.Customer' Multiplicity='0..1'><OnDelete Action='Cascade'/></End>
      <End Role='O' Type='NS.Order' Multiplicity='*'/><ReferentialConstraint><Principal Role='C'><PropertyRef Name='ID'/>
      </Principal><Dependent Role='O'><PropertyRef Name='CustomerID'/></Dependent></ReferentialConstraint></Association>
    <EntityContainer Name='C' m:IsDefaultEntityContainer='true'><EntitySet Name='Orders' EntityType='NS.Order'/>
      <EntitySet Name='Customers' EntityType='NS.Customer'/><AssociationSet Name='OCs' Association='NS.OC'>
      <End Role='C' EntitySet='Customers'/><End Role='O' EntitySet='Orders'/></AssociationSet></EntityContainer>
    """

  @Test("Associations give navigation properties the information that V4 states directly ([MC-CSDL] §2.1.9, §2.1.19)")
  func associations() throws {
    let model = try CSDLText.read(CSDLText.v2(Self.orders))
    let customer = try #require(model.structure("NS.Order")?.navigationProperty("Customer"))
    #expect(customer.type == .named("NS.Customer") && customer.multiplicity == .zeroOrOne)
    #expect(customer.partner == "Orders" && customer.onDelete == nil)
    #expect(
      customer.referentialConstraints == [
        EdmReferentialConstraint(property: "CustomerID", referencedProperty: "ID")
      ])
    #expect(customer.relationship == EdmRelationship(association: "NS.OC", fromRole: "O", toRole: "C"))
    let orders = try #require(model.structure("NS.Customer")?.navigationProperty("Orders"))
    #expect(orders.type == .collection(.named("NS.Order")) && orders.referentialConstraints.isEmpty)
    #expect(orders.onDelete?.action == "Cascade")
    #expect(model.target(of: "Customer", from: "Orders") == "Customers")
    #expect(model.target(of: "Orders", from: "Customers") == "Orders")
    #expect(model.association("NS.OC")?.ends.count == 2 && model.defaultContainer?.associationSets.count == 1)
    #expect(model.diagnostics.isEmpty && model.version == .v2 && model.dataServiceVersion == "2.0")
  }

  @Test("A V2 and a V4 model of one service read alike")
  func alike() throws {
    let second = try CSDLText.read(CSDLText.v2(Self.orders))
    let fourth = try CSDLText.read(
      CSDLText.v4(
        """
        <EntityType Name='Order'><Key><PropertyRef Name='ID'/></Key><Property Name='ID' Type='Edm.Int32' Nullable='false'/>
          <Property Name='CustomerID' Type='Edm.String'/><NavigationProperty Name='Customer' Type='NS.Customer'
          Nullable='true' Partner='Orders'><ReferentialConstraint Property='CustomerID' ReferencedProperty='ID'/>
          </NavigationProperty></EntityType>
        <EntityType Name='Customer'><Key><PropertyRef Name='ID'/></Key><Property Name='ID' Type='Edm.String'
          Nullable='false'/><NavigationProperty Name='Orders' Type='Collection(NS.Order)' Partner='Customer'><OnDelete
          Action='Cascade'/></NavigationProperty></EntityType>
        """))
    for name in ["NS.Order", "NS.Customer"] {
      var type = try #require(second.entityType(name))
      for place in type.navigationProperties.indices { type.navigationProperties[place].relationship = nil }
      #expect(type == fourth.entityType(name))
    }
  }

  @Test(
    "Every namespace of CSDL is known, with its version",
    arguments: [
      ("http://schemas.microsoft.com/ado/2006/04/edm", ODataVersion.v2),
      ("http://schemas.microsoft.com/ado/2007/05/edm", .v2), ("http://schemas.microsoft.com/ado/2008/01/edm", .v2),
      ("http://schemas.microsoft.com/ado/2008/09/edm", .v2), ("http://schemas.microsoft.com/ado/2009/08/edm", .v2),
      ("http://schemas.microsoft.com/ado/2009/11/edm", .v3), ("http://schemas.microsoft.com/ado/2012/10/edm", .v3),
      ("http://docs.oasis-open.org/odata/ns/edm", .v4),
    ])
  func namespaces(_ namespace: String, _ version: ODataVersion) throws {
    let text = "<Schema Namespace='NS' xmlns='\(namespace)'><EntityType Name='E'/></Schema>"
    let model = try CSDLText.read(text)
    #expect(model.version == version && model.entityType("NS.E") != nil)
    #expect(model.diagnostics.map(\.kind) == [.unusualForm])
  }

  @Test("A schema in an unknown namespace is read with a diagnostic")
  func unknownNamespace() throws {
    let model = try CSDLText.read(CSDLText.v2("<EntityType Name='E'/>", edm: "urn:acme:edm"))
    #expect(model.entityType("NS.E") != nil)
    #expect(model.diagnostics.map(\.kind) == [.unusualForm])
  }

  @Test("sap: and m: attributes, function imports and feed mappings are kept ([MS-ODATA] §2.2.3.7)")
  func extensions() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        """
        <EntityType Name='E' m:HasStream='true' sap:label='Thing' m:FC_TargetPath='SyndicationSummary'
          m:FC_SourcePath='Address/City' m:FC_TargetPath_1='a/b' m:FC_SourcePath_1='x' m:FC_NsUri_1='urn:x'>
        <Property Name='t' Type='Edm.String' ConcurrencyMode='Fixed' m:FC_TargetPath='SyndicationTitle'
          m:FC_KeepInContent='false' m:FC_ContentKind='text' sap:filterable='false' m:MimeType='text/plain'/></EntityType>
        <EntityContainer Name='C'><EntitySet Name='Es' EntityType='NS.E' sap:creatable='false'/>
        <FunctionImport Name='f' ReturnType='Collection(NS.E)' EntitySet='Es' m:HttpMethod='GET' sap:action-for='NS.E'>
        <Parameter Name='p' Type='Edm.String' Mode='In' MaxLength='4'/></FunctionImport></EntityContainer>
        """))
    let type = try #require(model.structure("NS.E"))
    #expect(type.hasStream && model.entityType("NS.E")?.sap("label") == "Thing")
    #expect(type.feedMappings.map(\.sourcePath) == ["t", "Address/City", "x"])
    #expect(type.feedMappings.map(\.keepsInContent) == [false, true, true])
    #expect(type.feedMappings.last?.namespaceURI == "urn:x")
    let property = try #require(type.property("t"))
    #expect(property.concurrencyMode == .fixed && property.sap("filterable") == "false")
    #expect(
      property.foreignAttribute("MimeType", namespace: EdmForeignAttribute.metadataNamespace) == "text/plain")
    let function = try #require(model.functionImport("f"))
    #expect(function.httpMethod == "GET" && function.parameters.first?.facets.maxLength == .limit(4))
    #expect(function.returnType?.type == .collection(.named("NS.E")) && function.sap("action-for") == "NS.E")
    #expect(model.entitySet("Es")?.sap("creatable") == "false")
    #expect(model.diagnostics.isEmpty)
  }

  @Test("Documentation, Using, TypeRef and unqualified names of old schemas")
  func oldForms() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        """
        <Using Namespace='Other.Space' Alias='O'/>
        <ComplexType Name='C'><Documentation><Summary>Short</Summary><LongDescription>Long</LongDescription></Documentation>
        <Property Name='a' Type='Int32'/><Property Name='b' Type='O.T'/>
        <Property Name='c'><CollectionType><TypeRef Type='Edm.Guid'/></CollectionType></Property>
        <Property Name='d' Type='Edm.String' CollectionKind='Bag'/></ComplexType>
        """))
    let type = try #require(model.structure("NS.C"))
    #expect(
      type.properties.map(\.type.description) == [
        "Edm.Int32", "Other.Space.T", "Collection(Edm.Guid)", "Collection(Edm.String)",
      ])
    #expect(model.complexType("NS.C")?.annotation("Org.OData.Core.V1.Description")?.value?.string == "Short")
    #expect(model.diagnostics.isEmpty)
  }

  @Test(
    "Facets on a type that is written as an element are those of the property",
    arguments: [
      "<CollectionType ElementType='Edm.String' MaxLength='20' Nullable='false' Unicode='false'/>",
      "<CollectionType><TypeRef Type='Edm.String' MaxLength='20' Nullable='false' Unicode='false'/></CollectionType>",
      "<CollectionType MaxLength='7' Unicode='false'><TypeRef Type='Edm.String' MaxLength='20' Nullable='false'/></CollectionType>",
    ])
  func typeElementFacets(_ text: String) throws {
    let model = try CSDLText.read(
      CSDLText.v2("<ComplexType Name='C'><Property Name='c'>\(text)</Property></ComplexType>"))
    let property = try #require(model.structure("NS.C")?.property("c"))
    #expect(property.type == .collection(.primitive(.string)))
    #expect(property.facets.maxLength == .limit(20) && property.facets.isUnicode == false && property.nullable == false)
    #expect(model.diagnostics.isEmpty)
  }

  @Test("An attribute that a type's element does not have is reported")
  func typeElementRest() throws {
    let model = try CSDLText.read(
      CSDLText.v2(
        "<ComplexType Name='C'><Property Name='c'><TypeRef Type='Edm.Guid' Colour='red'/></Property></ComplexType>"))
    #expect(model.diagnostics.map(\.kind) == [.unknownAttribute])
  }
}
