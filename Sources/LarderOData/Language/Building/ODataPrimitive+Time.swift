#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Dates, times, timestamps and durations.
extension ODataDate: ODataDated {
  /// `Edm.Date` (V4)
  public static var odataTypeName: String { "Edm.Date" }
  /// The date.
  public var odataExpression: ODataExpression { Self.literal(.date(self)) }
}

extension ODataTimeOfDay: ODataTimed {
  /// `Edm.TimeOfDay` (V4)
  public static var odataTypeName: String { "Edm.TimeOfDay" }
  /// The time.
  public var odataExpression: ODataExpression { Self.literal(.timeOfDay(self)) }
}

extension ODataDateTimeOffset: ODataDated, ODataTimed {
  /// `Edm.DateTimeOffset`
  public static var odataTypeName: String { "Edm.DateTimeOffset" }
  /// The timestamp, with its own offset.
  public var odataExpression: ODataExpression { Self.literal(.dateTimeOffset(self)) }
}

extension ODataDateTime: ODataDated, ODataTimed {
  /// `Edm.DateTime` (V1 to V3)
  public static var odataTypeName: String { "Edm.DateTime" }
  /// The date and time.
  public var odataExpression: ODataExpression { Self.literal(.dateTime(self)) }
}

extension ODataDuration: ODataOrdered {
  /// `Edm.Duration`
  public static var odataTypeName: String { "Edm.Duration" }
  /// The duration.
  public var odataExpression: ODataExpression { Self.literal(.duration(self)) }
}

extension Date: ODataDated, ODataTimed {
  /// `Edm.DateTimeOffset`
  public static var odataTypeName: String { "Edm.DateTimeOffset" }
  /// The timestamp in UTC to the microsecond. Dates that no calendar has become the first or last timestamp that can be
  /// written, so comparisons with `.distantFuture` and beyond work as expected. NaN is null.
  public var odataExpression: ODataExpression {
    if let timestamp = ODataDateTimeOffset(self) { return Self.literal(.dateTimeOffset(timestamp)) }
    guard !timeIntervalSince1970.isNaN else { return Self.literal(.null) }
    let isPast = timeIntervalSince1970 < 0
    let year = isPast ? -ODataDate.maximumYear : ODataDate.maximumYear
    guard let day = ODataDate(year: year, month: isPast ? 1 : 12, day: isPast ? 1 : 31),
      let timestamp = ODataDateTimeOffset(date: day, time: .midnight)
    else { return Self.literal(.null) }
    return Self.literal(.dateTimeOffset(timestamp))
  }
}

extension ODataExpression {
  /// An expression of any value: a value without a literal becomes an object or an array (URL Conventions 4.01
  /// §5.1.1.14). Annotations of complex values are kept as members with `@`.
  package init(value: ODataValue) {
    switch value {
    case .collection(let items): self.init(.array(items.map { ODataExpression(value: $0) }))
    case .complex(let value):
      var members: [ODataObjectMember] = []
      if let type = value.typeName {
        members.append(ODataObjectMember(name: "@odata.type", value: ODataExpression(.literal(.string("#" + type)))))
      }
      for annotation in value.annotations {
        members.append(ODataObjectMember(name: "@" + annotation.term, value: ODataExpression(value: annotation.value)))
      }
      for property in value.properties {
        members.append(ODataObjectMember(name: property.name, value: ODataExpression(value: property.value)))
      }
      self.init(.object(members))
    case .enumeration(let members):
      self.init(.enumeration(ODataEnumerationLiteral(typeName: nil, members: members)))
    default: self.init(.literal(value))
    }
  }
}
