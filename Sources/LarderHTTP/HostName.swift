/// The names of hosts as they are sent: in ASCII (RFC 3986 §3.2.2, RFC 5891).
package enum HostName {
  /// The ASCII form of a host, which may be percent-encoded; nil if there is none. A host in ASCII stays as it is.
  package static func ascii(_ host: String) -> String? {
    if isHost(host) || host.hasPrefix("[") { return host }
    guard let decoded = PercentEncoding.decode(host), !decoded.isEmpty else { return nil }
    var labels: [String] = []
    for label in decoded.lowercased().split(omittingEmptySubsequences: false, whereSeparator: isDot) {
      guard let label = ascii(label: label), label.utf8.count <= 63 else { return nil }
      labels.append(label)
    }
    let name = labels.joined(separator: ".")
    return isHost(name) && name.utf8.count <= 254 ? name : nil
  }

  private static func ascii(label: Substring) -> String? {
    if isASCII(label) { return String(label) }
    let scalars = label.flatMap { composed[$0].map { [$0] } ?? Array($0.unicodeScalars) }
    guard scalars.allSatisfy(isAllowed), let code = Punycode.encode(scalars.map(\.value)) else { return nil }
    return "xn--" + code
  }

  /// Full stops of other scripts separate labels, too (UTS 46).
  private static func isDot(_ character: Character) -> Bool { ".\u{3002}\u{FF0E}\u{FF61}".contains(character) }

  private static func isASCII(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

  /// Whether a text is a `reg-name` without escapes; names with other characters cannot be looked up.
  private static func isHost(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
      }
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .decimalNumber, .otherNumber, .letterNumber:
      true
    // The joiners of Indic scripts and Persian.
    case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
    default: scalar == "-" || scalar == "_" || scalar == "\u{B7}"
    }
  }

  /// Composed letters of Latin, Greek and Cyrillic: names are compared in the composed form (RFC 5891 §5.2), and keyboards
  /// may enter a letter and its accent separately. Characters are equal in both forms.
  private static let composed: [Character: Unicode.Scalar] = {
    var composed: [Character: Unicode.Scalar] = [:]
    for range in [0xC0...0x24F, 0x370...0x4FF, 0x1E00...0x1FFF] as [ClosedRange<UInt32>] {
      for value in range {
        guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
        if composed[Character(scalar)] == nil { composed[Character(scalar)] = scalar }
      }
    }
    return composed
  }()
}

/// The encoding of Unicode in the letters and digits of host names (RFC 3492).
enum Punycode {
  private static let (base, least, most): (UInt32, UInt32, UInt32) = (36, 1, 26)

  /// Encodes the characters of a label; nil if there are too many.
  static func encode(_ scalars: [UInt32]) -> String? {
    guard scalars.count <= 63 else { return nil }
    var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
    let basicCount = UInt32(output.count)
    var handled = basicCount
    if basicCount > 0 { output.append(UInt8(ascii: "-")) }
    var (next, delta, bias): (UInt32, UInt32, UInt32) = (0x80, 0, 72)
    while handled < UInt32(scalars.count), let smallest = scalars.filter({ $0 >= next }).min() {
      // At most 63 characters below 2^21: no overflow.
      delta += (smallest - next) * (handled + 1)
      next = smallest
      for scalar in scalars {
        if scalar < next { delta += 1 }
        guard scalar == next else { continue }
        append(delta, bias, to: &output)
        bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      next += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func append(_ delta: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
    var rest = delta
    var position = base
    while true {
      let threshold = position <= bias ? least : min(position - bias, most)
      if rest < threshold { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    output.append(digit(rest))
  }

  private static func digit(_ value: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
  }

  private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var steps: UInt32 = 0
    while delta > (base - least) * most / 2 {
      delta /= base - least
      steps += base
    }
    return steps + (base - least + 1) * delta / (delta + 38)
  }
}
