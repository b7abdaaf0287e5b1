import Testing

@testable import LarderOData

/// Operators of equal precedence.
struct PrecedenceRow: Sendable, CustomStringConvertible {
  let name: String
  let operators: [String]
  var description: String { name }

  /// Operators between two operands, the highest precedence first. The unary ones are between the first row and the second.
  static let all = [
    PrecedenceRow(name: "Primary", operators: ["has", "in"]),
    PrecedenceRow(name: "Multiplicative", operators: ["mul", "div", "divby", "mod"]),
    PrecedenceRow(name: "Additive", operators: ["add", "sub"]),
    PrecedenceRow(name: "Relational", operators: ["gt", "ge", "lt", "le"]),
    PrecedenceRow(name: "Equality", operators: ["eq", "ne"]),
    PrecedenceRow(name: "Conditional AND", operators: ["and"]),
    PrecedenceRow(name: "Conditional OR", operators: ["or"]),
  ]
}

/// Two operators between two operands each.
struct PrecedencePair: Sendable, CustomStringConvertible {
  let one: String
  let other: String
  /// The number of rows between the first operator and the second.
  let distance: Int
  var description: String { "\(one), \(other)" }

  static let all: [PrecedencePair] = PrecedenceRow.all.indices.flatMap { place in
    PrecedenceRow.all[place].operators.flatMap { one in
      PrecedenceRow.all.indices.flatMap { below in
        PrecedenceRow.all[below].operators.map { PrecedencePair(one: one, other: $0, distance: below - place) }
      }
    }
  }
}

/// The table of URL Conventions 4.01 §5.1.1.17 as text goes into it: parentheses, `/`, calls, `cast` and `isof` begin no
/// operator between two operands, so that their rows need none here. [MS-ODATA] 2.2.3.6.1.1.2 has the same rows without
/// `has`, `in` and `divby`.
@Suite("Precedence of operators (URL Conventions 4.01 §5.1.1.17)", .timeLimit(.minutes(5)))
struct PrecedenceTests {
  static let signs = ["not", "-"]

  private func read(_ text: String) throws -> String { notation(try ODataParser().expression(text)) }

  private func printed(_ text: String) throws -> String {
    let options = ODataParserOptions(version: .v401, isPercentEncoded: false)
    return try ODataPrinter(version: .v401, isPercentEncoded: false).print(
      ODataParser(options: options).expression(text))
  }

  @Test(
    "Of two operators the higher row binds tighter; those of one row bind from the left", arguments: PrecedencePair.all)
  func binding(_ pair: PrecedencePair) throws {
    let isChain = pair.one == pair.other && ["and", "or"].contains(pair.one)
    let expected =
      isChain
      ? "(\(pair.one) a b c)"
      : pair.distance >= 0 ? "(\(pair.other) (\(pair.one) a b) c)" : "(\(pair.one) a (\(pair.other) b c))"
    #expect(try read("a \(pair.one) b \(pair.other) c") == expected)
  }

  @Test(
    "Unary operators bind looser than the primary ones and tighter than all others", arguments: signs, PrecedenceRow.all
  )
  func unary(_ sign: String, _ row: PrecedenceRow) throws {
    for name in row.operators {
      let expected = row.name == "Primary" ? "(\(sign) (\(name) a b))" : "(\(name) (\(sign) a) b)"
      #expect(try read("\(sign) a \(name) b") == expected)
      // After an operator they begin an operand.
      #expect(try read("a \(name) \(sign) b") == "(\(name) a (\(sign) b))")
    }
  }

  @Test("not and - before in apply to the whole membership, of a list and of a collection")
  func negatedMembership() throws {
    #expect(try read("not ID in (1,2)") == "(not (in ID (list 1i32 2i32)))")
    #expect(try read("not ID in (Others)") == "(not (in ID Others))")
    #expect(try read("not not ID in [1,2]") == "(not (not (in ID [1i32,2i32])))")
    #expect(try read("not ID in (1,2) and Open") == "(and (not (in ID (list 1i32 2i32))) Open)")
    #expect(try read("-5 in (1,2)") == "(in -5i32 (list 1i32 2i32))")
    #expect(try read("1 add ID in (1,2)") == "(add 1i32 (in ID (list 1i32 2i32)))")
    #expect(try read("(1 add ID) in (1,2)") == "(in (add 1i32 ID) (list 1i32 2i32))")
    #expect(try read("a in (b) has c") == "(has (in a b) c)")
  }

  @Test("Printed text has parentheses only where the table requires them", arguments: PrecedencePair.all)
  func printing(_ pair: PrecedencePair) throws {
    let (one, other) = (pair.one, pair.other)
    let isOneChain = one == other && ["and", "or"].contains(one)
    #expect(
      try printed("(a \(one) b) \(other) c")
        == (pair.distance >= 0 ? "a \(one) b \(other) c" : "(a \(one) b) \(other) c"))
    #expect(
      try printed("a \(one) (b \(other) c)")
        == (pair.distance < 0 || isOneChain ? "a \(one) b \(other) c" : "a \(one) (b \(other) c)"))
  }

  @Test("Printed unary operators have parentheses where the table requires them", arguments: signs, PrecedenceRow.all)
  func printingUnary(_ sign: String, _ row: PrecedenceRow) throws {
    let space = sign == "not" ? " " : ""
    for name in row.operators {
      let isPrimary = row.name == "Primary"
      let inner = try printed("\(sign)(a \(name) b)")
      #expect(inner == (isPrimary ? "\(sign)\(space)a \(name) b" : "\(sign)\(space)(a \(name) b)"))
      let outer = try printed("(\(sign) a) \(name) b")
      #expect(outer == (isPrimary ? "(\(sign)\(space)a) \(name) b" : "\(sign)\(space)a \(name) b"))
    }
  }
}
