import LarderStorage

/// A regular expression of ECMAScript, as a program that reads a text once, so that every pattern takes time
/// proportional to the length of the text (URL Conventions 4.01 §5.1.1.7.1). Look-around and back-references cannot be
/// matched in this way and are rejected.
final class Pattern: Sendable {
  /// A step of the program: what a path through the pattern does next.
  enum Step: Sendable {
    /// Consumes a character of a set and continues at the next step.
    case consume(CharacterSet)
    /// Continues at both steps.
    case fork(Int, Int)
    case jump(Int)
    case assert(Assertion)
    case match
  }

  /// A condition between two characters.
  enum Assertion: Sendable {
    case start, end, wordBorder, noWordBorder
  }

  private let steps: [Step]

  /// Reads a pattern.
  init(_ text: String) throws(SQLFunctionError) {
    var reader = PatternReader(text)
    steps = try reader.program()
  }

  /// Whether some part of a text matches.
  func matches(_ text: TextBytes) -> Bool {
    var now = StateSet(count: steps.count)
    var next = StateSet(count: steps.count)
    var index = 0
    var before: Unicode.Scalar?
    while true {
      let here = text.scalar(index)
      // A path begins at each character, because the pattern may match anywhere.
      if follow(0, in: &now, before, here?.0) { return true }
      guard let (scalar, length) = here else { return false }
      let after = text.scalar(index + length)?.0
      next.removeAll()
      for place in now.places {
        if case .consume(let set) = steps[place], set.contains(scalar),
          follow(place + 1, in: &next, scalar, after)
        {
          return true
        }
      }
      swap(&now, &next)
      before = scalar
      index += length
    }
  }

  /// Adds a step, and all steps that it leads to without consuming a character; true if the end is among them.
  private func follow(
    _ place: Int, in states: inout StateSet, _ before: Unicode.Scalar?, _ after: Unicode.Scalar?
  ) -> Bool {
    var open = [place]
    while let place = open.popLast() {
      guard states.insert(place) else { continue }
      switch steps[place] {
      case .consume: break
      case .fork(let first, let second):
        open.append(second)
        open.append(first)
      case .jump(let target): open.append(target)
      case .assert(let assertion): if assertion.holds(before, after) { open.append(place + 1) }
      case .match: return true
      }
    }
    return false
  }

  /// The steps that the paths through the pattern have reached, each once.
  private struct StateSet {
    private(set) var places: [Int] = []
    private var isThere: [Bool]

    init(count: Int) { isThere = [Bool](repeating: false, count: count) }

    mutating func insert(_ place: Int) -> Bool {
      guard !isThere[place] else { return false }
      isThere[place] = true
      places.append(place)
      return true
    }

    mutating func removeAll() {
      for place in places { isThere[place] = false }
      places.removeAll(keepingCapacity: true)
    }
  }
}

extension Pattern.Assertion {
  fileprivate func holds(_ before: Unicode.Scalar?, _ after: Unicode.Scalar?) -> Bool {
    let isBorder =
      before.map(Pattern.CharacterSet.word.contains) ?? false != after.map(Pattern.CharacterSet.word.contains) ?? false
    return switch self {
    case .start: before == nil
    case .end: after == nil
    case .wordBorder: isBorder
    case .noWordBorder: !isBorder
    }
  }
}

extension Pattern {
  /// A set of characters: ranges, or all characters outside these.
  struct CharacterSet: Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
      ranges.contains { $0.contains(scalar.value) } != isNegated
    }

    static func single(_ scalar: Unicode.Scalar) -> CharacterSet { CharacterSet(ranges: [scalar.value...scalar.value]) }

    static let digit = CharacterSet(ranges: [0x30...0x39])
    static let word = CharacterSet(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// White space and line ends (ECMAScript 2024 §12.2, §12.3).
    static let space = CharacterSet(ranges: [
      0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
      0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// All characters except line ends.
    static let dot = CharacterSet(
      ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029], isNegated: true)

    /// The set for `\d`, `\W` and the like; nil for other letters.
    static func named(_ letter: Unicode.Scalar) -> CharacterSet? {
      switch letter {
      case "d": digit
      case "D": digit.complement
      case "w": word
      case "W": word.complement
      case "s": space
      case "S": space.complement
      default: nil
      }
    }

    var complement: CharacterSet { CharacterSet(ranges: ranges, isNegated: !isNegated) }

    /// The ranges of the characters in the set, without negation.
    var positive: [ClosedRange<UInt32>] {
      guard isNegated else { return ranges }
      var gaps: [ClosedRange<UInt32>] = []
      var next: UInt32 = 0
      for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
        next = max(next, range.upperBound + 1)
      }
      if next <= 0x10_FFFF { gaps.append(next...0x10_FFFF) }
      return gaps
    }
  }
}
