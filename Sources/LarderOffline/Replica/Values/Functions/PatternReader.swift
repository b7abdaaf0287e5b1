import LarderStorage

/// Parses a pattern and writes its program (ECMAScript 2024 §22.2.1, as with the flag `u`).
struct PatternReader {
  private let text: [Unicode.Scalar]
  private var index = 0
  private var steps: [Pattern.Step] = []

  /// The maximum number of steps of a program; counted repetition multiplies them.
  private static let programLimit = 10_000
  private static let depthLimit = 100
  private static let lengthLimit = 10_000

  init(_ text: String) { self.text = Array(text.unicodeScalars) }

  /// The whole pattern's program.
  mutating func program() throws(SQLFunctionError) -> [Pattern.Step] {
    guard text.count <= PatternReader.lengthLimit else { throw error("the pattern is too long") }
    try alternatives(depth: 0)
    guard index == text.count else { throw error("unmatched ')'") }
    steps.append(.match)
    return steps
  }

  private func error(_ message: String) -> SQLFunctionError {
    SQLFunctionError("matchesPattern: \(message) (character \(index + 1) of the pattern)")
  }

  private var next: Unicode.Scalar? { index < text.count ? text[index] : nil }

  private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  private mutating func append(_ step: Pattern.Step) throws(SQLFunctionError) {
    guard steps.count < PatternReader.programLimit else { throw error("the pattern is too large") }
    steps.append(step)
  }

  // MARK: Structure

  private mutating func alternatives(depth: Int) throws(SQLFunctionError) {
    guard depth < PatternReader.depthLimit else { throw error("the groups are nested too deeply") }
    var ends: [Int] = []
    while true {
      let start = steps.count
      try sequence(depth: depth)
      guard consume("|") else { break }
      // The path forks before this alternative; a jump after it skips the others.
      insert(.fork(start + 1, steps.count + 2), at: start)
      ends.append(steps.count)
      try append(.jump(0))
    }
    for end in ends { steps[end] = .jump(steps.count) }
  }

  /// Inserts a step at a position, and adjusts the targets of the steps after it.
  private mutating func insert(_ step: Pattern.Step, at place: Int) {
    for index in place..<steps.count { steps[index] = steps[index].moved(by: 1, from: place) }
    steps.insert(step, at: place)
  }

  private mutating func sequence(depth: Int) throws(SQLFunctionError) {
    while let scalar = next, scalar != "|", scalar != ")" {
      let start = steps.count
      let canRepeat = try atom(depth: depth)
      guard let (least, most) = try quantifier() else { continue }
      guard canRepeat else { throw error("nothing to repeat") }
      _ = consume("?")
      try repeatSteps(from: start, least, most)
    }
  }

  /// Repeats the steps from a position on.
  private mutating func repeatSteps(from start: Int, _ least: Int, _ most: Int?) throws(SQLFunctionError) {
    let body = Array(steps[start...])
    guard least * body.count + steps.count <= PatternReader.programLimit else {
      throw error("the pattern is too large")
    }
    steps.removeSubrange(start...)
    for _ in 0..<least { try copy(body, from: start) }
    guard let most else {
      // fork(body, after it), body, jump to the fork.
      let fork = steps.count
      try append(.fork(fork + 1, fork + body.count + 2))
      try copy(body, from: start)
      return try append(.jump(fork))
    }
    guard (most - least) * (body.count + 1) + steps.count <= PatternReader.programLimit else {
      throw error("the pattern is too large")
    }
    let end = steps.count + (most - least) * (body.count + 1)
    for _ in least..<most {
      try append(.fork(steps.count + 1, end))
      try copy(body, from: start)
    }
  }

  private mutating func copy(_ body: [Pattern.Step], from start: Int) throws(SQLFunctionError) {
    let shift = steps.count - start
    for step in body { try append(step.moved(by: shift, from: start)) }
  }

  private mutating func quantifier() throws(SQLFunctionError) -> (Int, Int?)? {
    if consume("*") { return (0, nil) }
    if consume("+") { return (1, nil) }
    if consume("?") { return (0, 1) }
    guard consume("{") else { return nil }
    guard let least = number() else { throw error("'{' does not start a repetition; write \\{") }
    var most: Int? = least
    if consume(",") { most = number() }
    guard consume("}") else { throw error("the repetition has no '}'") }
    if let most, most < least { throw error("the repetition's minimum \(least) is above its maximum \(most)") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let scalar = next, let digit = scalar.value >= 0x30 && scalar.value <= 0x39 ? Int(scalar.value) - 0x30 : nil {
      value = min((value ?? 0) * 10 + digit, 1_000_000)
      index += 1
    }
    return value
  }

  // MARK: Atoms

  /// Reads one atom; false for an assertion, which cannot be repeated.
  private mutating func atom(depth: Int) throws(SQLFunctionError) -> Bool {
    guard let scalar = next else { return false }
    index += 1
    switch scalar {
    case "^": try append(.assert(.start))
    case "$": try append(.assert(.end))
    case ".":
      try append(.consume(.dot))
      return true
    case "(":
      try group(depth: depth)
      return true
    case "[":
      try append(.consume(try characterClass()))
      return true
    case "\\": return try escape()
    case "*", "+", "?", "{": throw error("nothing to repeat")
    case "}", "]": throw error("unmatched '\(scalar)'; write \\\(scalar)")
    default:
      try append(.consume(.single(scalar)))
      return true
    }
    return false
  }

  private mutating func group(depth: Int) throws(SQLFunctionError) {
    if consume("?") {
      if consume("<"), next != "=", next != "!" {
        while let scalar = next, scalar != ">" { index += scalar == ")" ? text.count : 1 }
        guard consume(">") else { throw error("the group's name has no '>'") }
      } else if !consume(":") {
        throw error("look-around is not supported")
      }
    }
    try alternatives(depth: depth + 1)
    guard consume(")") else { throw error("the group has no ')'") }
  }

  private mutating func escape() throws(SQLFunctionError) -> Bool {
    guard let scalar = next else { throw error("the pattern ends with '\\'") }
    switch scalar {
    case "b", "B":
      index += 1
      try append(.assert(scalar == "b" ? .wordBorder : .noWordBorder))
      return false
    case "1"..."9", "k": throw error("back-references are not supported")
    default:
      if let set = Pattern.CharacterSet.named(scalar) {
        index += 1
        try append(.consume(set))
      } else {
        try append(.consume(.single(try character())))
      }
      return true
    }
  }

  /// Reads the character of an escape, after its backslash.
  private mutating func character() throws(SQLFunctionError) -> Unicode.Scalar {
    guard let scalar = next else { throw error("the pattern ends with '\\'") }
    index += 1
    switch scalar {
    case "t": return "\t"
    case "n": return "\n"
    case "r": return "\r"
    case "v": return "\u{0B}"
    case "f": return "\u{0C}"
    case "0": return "\0"
    case "x": return try hexadecimal(2)
    case "u":
      if consume("{") {
        let code = try hexadecimal(nil)
        guard consume("}") else { throw error("\\u{ has no '}'") }
        return code
      }
      return try surrogates()
    case "c":
      guard let letter = next, letter.properties.isAlphabetic, letter.isASCII else {
        throw error("\\c has no letter")
      }
      index += 1
      return Unicode.Scalar(UInt8(letter.value % 32))
    case "p", "P": throw error("Unicode properties are not supported")
    case "^", "$", "\\", ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/", "-": return scalar
    default:
      guard !scalar.properties.isAlphabetic || !scalar.isASCII else {
        throw error("the escape \\\(scalar) is not defined")
      }
      return scalar
    }
  }

  /// Reads a character as four hexadecimal digits, or as a surrogate pair: `\uD83C\uDF0D` is one character.
  private mutating func surrogates() throws(SQLFunctionError) -> Unicode.Scalar {
    let high = try code(4)
    guard high & 0xFC00 == 0xD800, index + 1 < text.count, text[index] == "\\", text[index + 1] == "u" else {
      guard let scalar = Unicode.Scalar(high) else { throw error("an incomplete surrogate pair") }
      return scalar
    }
    index += 2
    let low = try code(4)
    guard low & 0xFC00 == 0xDC00, let scalar = Unicode.Scalar(0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF))) else {
      throw error("an incomplete surrogate pair")
    }
    return scalar
  }

  private mutating func hexadecimal(_ count: Int?) throws(SQLFunctionError) -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(try code(count)) else { throw error("there is no character with this code") }
    return scalar
  }

  private mutating func code(_ count: Int?) throws(SQLFunctionError) -> UInt32 {
    var value: UInt32 = 0
    var read = 0
    while read < count ?? 6, let scalar = next, scalar.isASCII, let digit = Character(scalar).hexDigitValue {
      value = value << 4 | UInt32(digit)
      index += 1
      read += 1
    }
    guard read == count ?? max(1, read) else { throw error("hexadecimal digits expected") }
    return value
  }

  private mutating func characterClass() throws(SQLFunctionError) -> Pattern.CharacterSet {
    var set = Pattern.CharacterSet(ranges: [], isNegated: consume("^"))
    while let scalar = next, scalar != "]" {
      guard let first = try member(of: &set) else { continue }
      guard next == "-", index + 1 < text.count, text[index + 1] != "]" else {
        set.ranges.append(first.value...first.value)
        continue
      }
      index += 1
      guard let last = try member(of: &set) else { throw error("the range ends with a set") }
      guard first.value <= last.value else { throw error("the range's end is before its start") }
      set.ranges.append(first.value...last.value)
    }
    guard consume("]") else { throw error("the character class has no ']'") }
    return set
  }

  /// Reads one character of a class; nil if it was a set, whose characters have been added.
  private mutating func member(of set: inout Pattern.CharacterSet) throws(SQLFunctionError) -> Unicode.Scalar? {
    guard let scalar = next else { throw error("the character class has no ']'") }
    index += 1
    guard scalar == "\\" else { return scalar }
    if consume("b") { return "\u{08}" }
    if let letter = next, let named = Pattern.CharacterSet.named(letter) {
      index += 1
      set.ranges.append(contentsOf: named.positive)
      return nil
    }
    return try character()
  }
}

extension Pattern.Step {
  /// Returns the step with its targets adjusted to an insertion at a position.
  fileprivate func moved(by shift: Int, from place: Int) -> Pattern.Step {
    switch self {
    case .fork(let one, let other): .fork(one >= place ? one + shift : one, other >= place ? other + shift : other)
    case .jump(let target): .jump(target >= place ? target + shift : target)
    case .consume, .assert, .match: self
    }
  }
}
