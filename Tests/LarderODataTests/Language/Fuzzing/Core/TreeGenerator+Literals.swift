import LarderOData

// Literals of both dialects, in the types that parsers give them.
extension TreeGenerator {
  mutating func literal() -> ODataExpression {
    if random.once(in: 10) { return enumeration() }
    return ODataExpression(.literal(value()))
  }

  mutating func enumeration() -> ODataExpression {
    let members = random.pick(["Red", "Red,Yellow", "3", "-1", "Größe"])
    return ODataExpression(.enumeration(ODataEnumerationLiteral(typeName: qualifiedName(), members: members)))
  }

  private mutating func value() -> ODataValue {
    switch random.below(16) {
    case 0: return .null
    case 1: return .boolean(random.once(in: 2))
    case 2, 3: return integer()
    case 4: return decimal()
    case 5: return floating()
    case 6, 7, 8: return .string(text())
    case 9: return .guid(ODataGuid(high: random.next(), low: random.next()))
    case 10: return .binary(several(0...9) { UInt8(truncatingIfNeeded: $0.random.next()) })
    case 11:
      return .duration(
        ODataDuration(seconds: Int64(random.below(9_999_999)), picoseconds: picosecond()) ?? ODataDuration.zero)
    default: return timestamp() ?? .null
    }
  }

  private mutating func picosecond() -> Int64 { random.once(in: 2) ? 0 : Int64(random.below(1_000_000)) * 1_000_000 }

  private mutating func integer() -> ODataValue {
    switch random.below(4) {
    case 0: return .int32(random.pick([0, 1, -1, .max, .min]))
    case 1: return .int64(random.pick([.max, .min, 2_147_483_648, -2_147_483_649]))
    default: return .int32(Int32(truncatingIfNeeded: random.next()))
    }
  }

  /// A number with a fraction: without one it would read as an integer in V4.
  private mutating func decimal() -> ODataValue {
    let digits = "\(random.below(100_000)).\(random.below(1000))5"
    return ODataDecimal(random.once(in: 2) ? digits : "-" + digits).map { .decimal($0) } ?? .null
  }

  private mutating func floating() -> ODataValue {
    guard isV4 else {
      let number = random.pick([0.5, -1.25, 3, 1e300, 1e-300, 123456.789])
      return random.once(in: 2) ? .double(number) : .single(random.pick([0.5, -2, 1e30, 0.1]))
    }
    return .double(random.once(in: 2) ? .infinity : -.infinity)
  }

  private mutating func timestamp() -> ODataValue? {
    let date = ODataDate(
      year: random.pick([1, 999, 1970, 2012, 2026, 9999, 12345, -1]), month: 1 + random.below(12),
      day: 1 + random.below(28))
    let time = ODataTimeOfDay(
      hour: random.below(24), minute: random.below(60), second: random.below(60), picosecond: UInt64(picosecond()))
    guard let date, let time else { return nil }
    let space = random.once(in: 2) ? ODataGeo.Space.geography : .geometry
    switch random.below(isV4 ? 4 : 2) {
    case 0:
      return ODataDateTimeOffset(date: date, time: time, offsetMinutes: random.pick([0, 60, -330, 840])).map {
        .dateTimeOffset($0)
      }
    case 1: return isV4 ? .date(date) : .dateTime(ODataDateTime(date: date, time: time))
    case 2: return .timeOfDay(time)
    default:
      let shape = random.pick([
        "Point(1 2)", "LineString(1 2,3.5 -4)", "Polygon((0 0,1 0,1 1,0 0))", "MultiPoint((1 2))",
      ])
      return (try? ODataGeo(wellKnownText: "SRID=\(random.below(99999));\(shape)", space: space)).map { .geo($0) }
    }
  }
}
