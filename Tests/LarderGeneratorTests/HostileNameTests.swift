import LarderOData
import Testing

@testable import LarderGenerator

/// Names of a service that contain Swift code, line breaks and characters that change the direction of text.
@Suite("Hostile names", .timeLimit(.minutes(5)))
struct HostileNameTests {
  /// A document in which every name ends with a text.
  private func document(_ end: String) throws -> EdmModel {
    try model(
      """
      <EntityType Name="Order\(end)" OpenType="true"><Key><PropertyRef Name="ID\(end)"/></Key>
        <Property Name="ID\(end)" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Note\(end)" Type="Edm.String"/><Property Name="Place\(end)" Type="Shop.Place\(end)"/>
        <Property Name="Scan\(end)" Type="Edm.Stream"/>
        <NavigationProperty Name="Next\(end)" Type="Shop.Order\(end)"/></EntityType>
      <EntityType Name="Late\(end)" BaseType="Shop.Order\(end)"/>
      <EntityType Name="Picture\(end)" HasStream="true"><Key><PropertyRef Name="ID\(end)"/></Key>
        <Property Name="ID\(end)" Type="Edm.Int32" Nullable="false"/></EntityType>
      <ComplexType Name="Place\(end)"><Property Name="City\(end)" Type="Edm.String"/></ComplexType>
      <EnumType Name="Status\(end)"><Member Name="Open\(end)"/></EnumType>
      <TypeDefinition Name="Money\(end)" UnderlyingType="Edm.Decimal"/>
      <Action Name="Ship\(end)" IsBound="true"><Parameter Name="it" Type="Shop.Order\(end)"/>
        <Parameter Name="By\(end)" Type="Edm.String"/></Action>
      <Function Name="Find\(end)"><Parameter Name="At\(end)" Type="Edm.String"/><ReturnType Type="Edm.Int32"/></Function>
      <EntityContainer Name="Service\(end)">
        <EntitySet Name="Orders\(end)" EntityType="Shop.Order\(end)"/>
        <Singleton Name="Best\(end)" Type="Shop.Order\(end)"/>
        <FunctionImport Name="Find\(end)" Function="Shop.Find\(end)"/>
      </EntityContainer>
      """)
  }

  @Test(
    "no name of the document, no pattern and no name of the file ends a comment line or changes the direction of text",
    arguments: [
      "\n", "\r", "\r\n", "\t", "\u{85}", "\u{2028}", "\u{2029}", "\u{61C}", "\u{200F}", "\u{202E}", "\u{2066}",
    ])
  func injection(separator: String) throws {
    let code = "static let evil: Int = { fatalError() }() //"
    let escaped = separator.unicodeScalars.map { "&#\($0.value);" }.joined()
    for access in GeneratorOptions.Access.allCases {
      let generated = try generateAll(try document(escaped + code)) {
        $0.access = access
        $0.documentName = "a\(separator)\(code).xml"
        $0.only = [NamePattern("*\(separator)\(code)")]
        $0.except = [NamePattern("Picture\(separator)*")]
      }
      #expect(generated.files.count == 7, "\(generated.files.map(\.name))")
      #expect(generated.omissions.isEmpty)
      for file in generated.files + generated.fixed("Shop") {
        for scalar in file.text.unicodeScalars where scalar != "\n" {
          let isPlain =
            ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
            && !scalar.properties.isBidiControl
          #expect(isPlain, "U+\(String(scalar.value, radix: 16)) in \(file.name)")
        }
        for line in file.text.split(separator: "\n") {
          let code = line.drop { $0 == " " }
          #expect(!code.hasPrefix("static let evil") && !code.hasPrefix(".xml"), "\(file.name): \(line)")
        }
      }
    }
  }

  @Test("a name in a comment stays one line; a literal has the very text")
  func texts() {
    var text = SwiftText(.internal)
    text.document([], else: "The property `a\u{B}b\u{C}c\u{0}d\r\ne\u{202E}f`.")
    text.document(["a\nb", "c\u{2029}d"], else: "")
    #expect(text.text == "/// The property `a b c d ef`.\n/// a b\n///\n/// c d\n")
    #expect(
      SwiftText.literal("\u{202E}\u{2066}\u{200F}\u{2028}\u{85}\u{FEFF}\u{E0041}é")
        == #""\u{202e}\u{2066}\u{200f}\u{2028}\u{85}\u{feff}\u{e0041}é""#)
  }
}
