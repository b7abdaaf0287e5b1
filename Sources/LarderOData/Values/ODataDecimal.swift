/// `Edm.Decimal`: an exact decimal number of any precision up to ``digitLimit``; also INF, -INF and NaN (4.01).
///
/// Equality and order are numeric: `1.0 == 1.00`, and both have equal hashes; the scale is kept for printing. NaN
/// equals itself and is ordered after INF, so that the order is total. A value whose digits fit 64 bits needs no heap
/// memory.
public struct ODataDecimal: Sendable {
  enum Storage: Sendable, Equatable {
    /// significand · 10^exponent
    case small(significand: Int64, exponent: Int32)
    case big(Big)
    case infinity
    case negativeInfinity
    case nan
  }

  /// A number with more digits than 64 bits hold.
  struct Big: Sendable, Equatable {
    /// The digits, 0 to 9 each, most significant first, the first not 0. The exponent's four bytes precede them, so
    /// that everything is behind one reference and ``ODataDecimal`` has 16 bytes.
    private(set) var packed: [UInt8]

    init(isNegative: Bool, exponent: Int32, digits: some Collection<UInt8>) {
      packed = []
      packed.reserveCapacity(digits.count + 5)
      withUnsafeBytes(of: exponent.littleEndian) { packed.append(contentsOf: $0) }
      packed.append(isNegative ? 1 : 0)
      packed.append(contentsOf: digits)
    }

    var isNegative: Bool { packed.count > 4 && packed[4] == 1 }
    var digits: ArraySlice<UInt8> { packed.dropFirst(5) }
    var exponent: Int32 {
      Int32(bitPattern: packed.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
  }

  let storage: Storage

  /// The most digits that are accepted, without leading zeros.
  public static let digitLimit = 65_536
  /// The largest exponent of ten that is accepted; its negative is the smallest.
  public static let exponentLimit = 999_999_999

  /// Not a number.
  public static let nan = ODataDecimal(storage: .nan)
  /// Positive infinity, greater than every number.
  public static let infinity = ODataDecimal(storage: .infinity)
  /// Negative infinity, less than every number.
  public static let negativeInfinity = ODataDecimal(storage: .negativeInfinity)

  init(storage: Storage) { self.storage = storage }

  /// Converts an integer exactly.
  public init(_ number: some FixedWidthInteger) {
    if let small = Int64(exactly: number) {
      storage = .small(significand: small, exponent: 0)
    } else {
      let digits = String(number.magnitude).utf8.map { $0 - 0x30 }
      storage = .big(Big(isNegative: number < 0, exponent: 0, digits: digits))
    }
  }

  /// Creates `significand` · 10^`exponent`; nil if the exponent is beyond ``exponentLimit``.
  public init?(significand: Int64, exponent: Int) {
    guard exponent.magnitude <= UInt(ODataDecimal.exponentLimit) else { return nil }
    storage = .small(significand: significand, exponent: Int32(exponent))
  }

  /// Creates the shortest decimal that reads back as the same `Double`.
  public init(_ number: Double) {
    if number.isNaN {
      storage = .nan
    } else if number.isInfinite {
      storage = number < 0 ? .negativeInfinity : .infinity
    } else {
      self = ODataDecimal(number.description) ?? .nan
    }
  }

  /// Parses `-12.50`, `1e-7`, `INF`, `-INF`, `NaN`; nil for anything else.
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { try? ODataDecimal(&$0) }) else { return nil }
    self = value
  }

  /// False for INF, -INF and NaN.
  public var isFinite: Bool {
    switch storage {
    case .small, .big: true
    case .infinity, .negativeInfinity, .nan: false
    }
  }

  /// True for NaN.
  public var isNaN: Bool { storage == .nan }

  /// The number of digits after the decimal point as written: 2 for `1.50`; negative for `1e3`; 0 if the number is not
  /// finite.
  package var scale: Int { -Int(exponent) }

  /// The number of digits as written, without leading zeros; 1 for zero.
  package var digitCount: Int {
    switch storage {
    case .small(let significand, _): ODataDecimal.digitCount(significand.magnitude)
    case .big(let big): big.digits.count
    default: 0
    }
  }

  var exponent: Int32 {
    switch storage {
    case .small(_, let exponent): exponent
    case .big(let big): big.exponent
    default: 0
    }
  }

  /// The sign: -1, 0 or 1; 0 for NaN.
  var signum: Int {
    switch storage {
    case .small(let significand, _): Int(significand.signum())
    case .big(let big): big.isNegative ? -1 : 1
    case .infinity: 1
    case .negativeInfinity: -1
    case .nan: 0
    }
  }

  static func digitCount(_ magnitude: UInt64) -> Int {
    var count = 1
    var rest = magnitude
    while rest >= 10 {
      rest /= 10
      count += 1
    }
    return count
  }

  /// The digits, 0 to 9 each, most significant first; empty if the number is not finite.
  var digits: [UInt8] {
    switch storage {
    case .small(let significand, _):
      var digits: [UInt8] = []
      digits.append(decimal: significand.magnitude)
      for index in digits.indices { digits[index] -= 0x30 }
      return digits
    case .big(let big): return Array(big.digits)
    default: return []
    }
  }
}

extension ODataDecimal: ExpressibleByIntegerLiteral {
  /// Creates a whole number.
  public init(integerLiteral value: Int64) { storage = .small(significand: value, exponent: 0) }
}
