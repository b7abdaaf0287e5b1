import Testing

@testable import LarderCommands

@Suite("Output that reaches a terminal", .timeLimit(.minutes(2)))
struct TerminalFilterTests {
  /// The sizes of the pieces in which bytes are written.
  private func shown(_ bytes: [UInt8], pieces: Int = .max) throws -> String {
    let collector = Collector()
    let port = collector.port(isTerminal: true)
    var rest = bytes[...]
    while !rest.isEmpty {
      try port.write(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    port.finish()
    return collector.text
  }

  static let texts: [(given: String, shown: String)] = [
    ("plain\ttext\n", "plain\ttext\n"), ("línea — 日本語 𝕏\r\n", "línea — 日本語 𝕏\r\n"),
    ("a\u{1B}]0;x\u{07}b", #"a\u{1B}]0;x\u{7}b"#), ("a\u{0}b\u{7F}", #"a\u{0}b\u{7F}"#),
    ("\u{9B}31m\u{85}\u{9D}0;t\u{9C}", #"\u{9B}31m\u{85}\u{9D}0;t\u{9C}"#), ("all is\rnothing", #"all is\u{D}nothing"#),
    ("end\r", #"end\u{D}"#), ("\u{202E}gpj.exe\u{202C}", #"\u{202E}gpj.exe\u{202C}"#),
    ("\u{61C}\u{200E}\u{200F}\u{2066}\u{2069}", #"\u{61C}\u{200E}\u{200F}\u{2066}\u{2069}"#),
    ("a\u{200B}b\u{FEFF}c\u{2060}d\u{AD}e", #"a\u{200B}b\u{FEFF}c\u{2060}d\u{AD}e"#),
    ("\u{E0041}\u{E0001}\u{E007F}", #"\u{E0041}\u{E0001}\u{E007F}"#), ("x\u{2028}y\u{2029}", #"x\u{2028}y\u{2029}"#),
    ("\u{115F}\u{3164}\u{FFA0}\u{180E}\u{FFF9}", #"\u{115F}\u{3164}\u{FFA0}\u{180E}\u{FFF9}"#),
    ("ad\u{200D}min\u{200C}", #"ad\u{200D}min\u{200C}"#), ("👩‍👩‍👧 ❤️‍🔥 1️⃣", "👩‍👩‍👧 ❤️‍🔥 1️⃣"), ("می‌خواهم", "می‌خواهم"),
    ("é\u{FE0F}\u{FE01}\u{E0100}", "é\u{FE0F}" + #"\u{FE01}\u{E0100}"#),
    ("é\u{200D}\u{200D}", "é\u{200D}" + #"\u{200D}"#),
  ]

  @Test("control and invisible characters are shown by number, at any chunk boundary", arguments: texts.indices)
  func text(_ place: Int) throws {
    let (given, expected) = Self.texts[place]
    for pieces in [1, 2, 3, 5, .max] { #expect(try shown(Array(given.utf8), pieces: pieces) == expected) }
  }

  @Test(
    "bytes that are not text are shown by number",
    arguments: [
      ([0x9B, 0x33, 0x31, 0x6D], #"\x{9B}31m"#), ([0xC0, 0x9B], #"\x{C0}\x{9B}"#), ([0xE2, 0x80], #"\x{E2}\x{80}"#),
      ([0xE2, 0x80, 0x0A], #"\x{E2}\x{80}"# + "\n"), ([0xED, 0xA0, 0x80], #"\x{ED}\x{A0}\x{80}"#),
      ([0xF4, 0x90, 0x80, 0x80], #"\x{F4}\x{90}\x{80}\x{80}"#), ([0xE0, 0x82, 0x9B], #"\x{E0}\x{82}\x{9B}"#),
    ] as [([UInt8], String)])
  func bytes(given: [UInt8], expected: String) throws {
    for pieces in [1, 2, .max] { #expect(try shown(given, pieces: pieces) == expected) }
  }

  @Test("no bytes pass a control sequence: 20,000 random ones, in random pieces")
  func random() throws {
    var random = SystemRandomNumberGenerator()
    let starts: [[UInt8]] = [[0x1B, 0x5B], [0xC2], [0xE2, 0x80], [0xEF, 0xBB], [0xF3, 0xA0, 0x81], [0x0D], [0xD8]]
    for _ in 0..<200 {
      let bytes = (0..<100).flatMap { _ in
        (Bool.random(using: &random) ? starts.randomElement(using: &random) ?? [] : []) + [
          .random(in: 0...255, using: &random)
        ]
      }
      let text = try shown(bytes, pieces: .random(in: 1...9, using: &random))
      #expect(Harmless.offences(text) == [], "\(bytes)")
      #expect(text == (try shown(bytes)))
    }
  }

  @Test("our own colours pass, also around such text; the same sequences from outside do not, nor with a guessed mark")
  func style() throws {
    let collector = Collector()
    let port = collector.port(isTerminal: true, style: .colour)
    try port.line(port.style.red("a\u{1B}[32mb") + "\u{1B}[31mc" + TerminalControl.up(3))
    #expect(collector.text == "\u{1B}[31m" + #"a\u{1B}[32mb"# + "\u{1B}[0m" + #"\u{1B}[31mc"# + "\u{1B}[3A\n")
    let other = String(UInt64.max, radix: 16)
    #expect(try shown(Array("\u{1B}\(other)_[31m\u{1B}".utf8)) == #"\u{1B}"# + other + "_[31m" + #"\u{1B}"#)
  }

  @Test("a pipe gets bytes unchanged, and diagnostics filtered")
  func pipe() throws {
    let (output, diagnostics) = (Collector(), Collector())
    let context = Rig().context(output, diagnostics)
    let bytes = Array("a\u{1B}[2J\u{202E}".utf8) + [0x9B, 0xE2]
    try context.output.write(bytes)
    context.note("a\u{1B}[2J")
    #expect(output.bytes == bytes)
    #expect(diagnostics.text == #"a\u{1B}[2J"# + "\n")
  }
}

/// Judges what a terminal got, without a look at how that is made.
enum Harmless {
  /// The scalars that have no business on a terminal, but for joiners and selectors, of which other tests speak.
  static func offences(_ text: String) -> [String] {
    text.unicodeScalars.compactMap { scalar in
      let isBad: Bool
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x200C, 0x200D, 0xFE00...0xFE0F: isBad = false
      case 0..<0x20, 0x7F..<0xA0, 0x61C, 0xAD, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
        0xFFF9...0xFFFB,
        0xE0000...0xE0FFF:
        isBad = true
      default: isBad = false
      }
      return isBad ? String(scalar.value, radix: 16) : nil
    }
  }
}
