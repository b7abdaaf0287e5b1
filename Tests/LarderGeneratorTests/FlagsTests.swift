import Foundation
import LarderOData
import Testing

@testable import LarderGenerator

/// Values of generated enumeration types whose members can be combined.
@Suite("Combined members", .timeLimit(.minutes(1)))
struct FlagsTests {
  /// A type as the generator writes it, with a member for a combination and one for nothing.
  struct Services: ODataFlags, Codable, Hashable {
    static let odataTypeName = "Shop.Services"
    static let odataMemberValues: [String: Int64] = ["None": 0, "Parking": 1, "Breakfast": 2, "Full": 3, "Top": -8]
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }
    static func == (left: Services, right: Services) -> Bool { left.odataIdentity == right.odataIdentity }
    func hash(into hasher: inout Hasher) { hasher.combine(odataIdentity) }
  }

  @Test(
    "a value contains others by the values of their members, and by the names of those that are not declared",
    arguments: [
      ("Full", "Parking", true), ("Full", "Parking,Breakfast", true), ("Parking", "Full", false),
      ("Parking, Breakfast", "Full", true), ("3", "Full", true), ("Full", "1", true), ("Full", "None", true),
      ("", "None", true), ("", "", true), ("None", "Parking", false), ("Full,Later", "Full", true),
      ("Full,Later", "Parking", true), ("Full,Later", "Later,Parking", true), ("Full", "Later", false),
      ("Parking,Later", "Later", true), ("Parking,Later", "Full", false), ("Parking,Later", "Parking,Sooner", false),
      ("Later", "", true),
      ("Top", "Parking", false), ("Top, Parking", "Top", true),
    ])
  func containment(value: String, other: String, contains: Bool) {
    #expect(Services(rawValue: value).contains(Services(rawValue: other)) == contains)
  }

  @Test(
    "values are equal if their members have the same values, in any order, and the same names where not declared",
    arguments: [
      ("Parking,Breakfast", "Breakfast, Parking", true), ("Full", "Parking,Breakfast", true), ("3", "Full", true),
      ("Full,Parking", "Full", true), ("", "None", true), ("Parking", "Breakfast", false),
      ("Later,Parking", "Parking, Later", true), ("Later,Full", "Later,Parking,Breakfast", true),
      ("Later", "Sooner", false), ("Full,Later", "Full", false), ("-8", "Top", true), ("Later,Later", "Later", true),
      ("Later", "Later,None", true), ("Later,Parking", "Later,Breakfast", false),
    ])
  func equality(left: String, right: String, areEqual: Bool) throws {
    let (left, right) = (Services(rawValue: left), Services(rawValue: right))
    #expect((left == right) == areEqual && (right == left) == areEqual)
    #expect(!areEqual || Set([left, right]).count == 1)
    // What the service sent is kept.
    #expect(try JSONDecoder().decode(Services.self, from: JSONEncoder().encode(left)).rawValue == left.rawValue)
  }

  /// A type without a member for nothing, and one that does not know the values of its members.
  struct Sizes: ODataFlags, Hashable {
    static let odataTypeName = "Shop.Sizes"
    static let odataMemberValues: [String: Int64] = ["Small": 1]
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }
  }

  struct Colors: ODataFlags, Hashable {
    static let odataTypeName = "Shop.Colors"
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }
  }

  // A service accepts a member's name or a number, but no empty text (JSON Format 4.01 §7.1, ABNF `enumValue`).
  @Test("a value without members is the member for nothing, or 0")
  func nothing() {
    let none: Services = []
    #expect(none.rawValue == "None" && none == Services() && none == Services(rawValue: "0"))
    #expect(none == [Services(rawValue: "")] && Services(rawValue: "Full").contains([]))
    #expect((Sizes() as Sizes).rawValue == "0" && ([] as Colors).rawValue == "0")
  }

  @Test("the names of members are compared if their values are not known")
  func unknownValues() {
    let colors = Colors(rawValue: "Red,Blue")
    #expect(colors.contains(Colors(rawValue: "Blue")) && !colors.contains(Colors(rawValue: "Green")))
    #expect(colors.odataIdentity == Colors(rawValue: "Blue, Red").odataIdentity)
  }

  @Test("generated types compare by value")
  func generated() {
    #expect(Options(rawValue: "Fast, Gift") == Options(.gift, .fast))
    #expect(Options(rawValue: "3").contains(.fast) && Set([Options(.fast, .gift), Options(.gift, .fast)]).count == 1)
    #expect(Options(rawValue: "Later,Fast") == Options(rawValue: "Fast,Later") && Options(rawValue: "Later") != .fast)
    #expect(Options(rawValue: "Fast, Gift").rawValue == "Fast, Gift")
  }

  @Test("only types whose members can be combined have the values of their members")
  func text() throws {
    let members = "<Member Name=\"A\" Value=\"4\"/><Member Name=\"odataMemberValues\"/><Member Name=\"A\" Value=\"7\"/>"
    func type(_ attributes: String, _ members: String) throws -> String {
      try #require(try generate(try model("<EnumType Name=\"E\" \(attributes)>\(members)</EnumType>"))["E"])
    }
    let flags = try type("IsFlags=\"true\"", members)
    #expect(flags.contains("\"A\": 4,\n") && flags.contains("\"odataMemberValues\": 5\n"), "\(flags)")
    #expect(flags.contains("static var odataMemberValuesMember: E"))
    #expect(try type("IsFlags=\"true\"", "").contains("static let odataMemberValues: [String: Int64] = [:]\n"))
    #expect(try !type("", members).contains("[String: Int64]"))
  }
}
