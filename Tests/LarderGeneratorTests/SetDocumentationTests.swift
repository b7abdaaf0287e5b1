import LarderOData
import LarderODataXML
import Testing

@testable import LarderGenerator

/// What the documentation of entity sets says about reading them.
@Suite("Documentation of entity sets", .timeLimit(.minutes(1)))
struct SetDocumentationTests {
  @Test(
    "V2: the documentation says that a set is only read through others, or needs a filter",
    arguments: [
      ("", ["The entity set `A`."]),
      (
        "sap:label=\"All\" sap:addressable=\"false\"",
        ["All", "Entities are only read through those that refer to them."]
      ),
      ("sap:requires-filter=\"true\"", ["The entity set `A`.", "A query needs a filter."]),
      ("sap:addressable=\"true\" sap:requires-filter=\"false\"", ["The entity set `A`."]),
    ])
  func attributes(attributes: String, lines: [String]) throws {
    let model = try olderModel(
      """
      <EntityType Name="T"/>
      <EntityContainer Name="C"><EntitySet Name="A" EntityType="S.T" \(attributes)/></EntityContainer>
      """)
    try check(model, lines)
  }

  @Test(
    "V4: restrictions of reading and filtering are in the documentation",
    arguments: [
      (
        "ReadRestrictions", "<PropertyValue Property=\"Readable\" Bool=\"false\"/>",
        ["The service does not return entities of the set."]
      ),
      (
        "ReadRestrictions",
        """
        <PropertyValue Property="Readable" Bool="false"/><PropertyValue Property="ReadByKeyRestrictions"><Record>
        <PropertyValue Property="Readable" Bool="true"/></Record></PropertyValue>
        """, ["Entities are only read by their keys."]
      ),
      ("ReadRestrictions", "<PropertyValue Property=\"Readable\" Bool=\"true\"/>", []),
      ("FilterRestrictions", "<PropertyValue Property=\"RequiresFilter\" Bool=\"true\"/>", ["A query needs a filter."]),
      (
        "FilterRestrictions",
        """
        <PropertyValue Property="RequiresFilter" Bool="true"/><PropertyValue Property="RequiredProperties"><Collection>
        <PropertyPath>Year</PropertyPath><PropertyPath>Plant</PropertyPath></Collection></PropertyValue>
        """, ["A query needs a filter by `Year` and `Plant`."]
      ),
    ])
  func restrictions(term: String, content: String, lines: [String]) throws {
    let annotation = """
      <Annotation Term="Org.OData.Capabilities.V1.\(term)"><Record>\(content)</Record></Annotation>
      """
    let container = """
      <EntityType Name="T"/><EntityContainer Name="C"><EntitySet Name="A" EntityType="Shop.T">\(annotation)</EntitySet>
      </EntityContainer>
      """
    try check(try model(container), ["The entity set `A`."] + lines)
  }

  private func check(_ model: EdmModel, _ lines: [String]) throws {
    let text = try #require(try generate(model)["C"])
    let expected = lines.map { "  /// \($0)\n" }.joined(separator: "  ///\n") + "  var a: ODataEntitySet<T>"
    #expect(text.contains("\n\n" + expected), "\(text)")
  }
}
