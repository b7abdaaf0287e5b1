import LarderOData
import LarderStorage

/// The value of a cell for comparison: all spellings of a value are equal. A service may return a value in another
/// spelling than it was sent: 1.5 for 1.50, another offset of a timestamp, PT1H for PT60M.
enum ComparedValue: Hashable, Sendable {
  case decimal(ODataDecimal)
  case dateTimeOffset(ODataDateTimeOffset)
  case dateTime(ODataDateTime)
  case duration(ODataDuration)
  /// A value with one spelling only, or a text that does not have the form of its column.
  case cell(SQLValue)

  /// - Parameter storage: how the column stores values; nil for the columns of ``SystemColumn``.
  init(_ cell: SQLValue, _ storage: ColumnStorage?) {
    var value: ComparedValue?
    if case .text(let text) = cell {
      switch storage {
      case .decimal: value = ODataDecimal(text).map { .decimal($0) }
      case .dateTimeOffset: value = ODataDateTimeOffset(text).map { .dateTimeOffset($0) }
      case .dateTime: value = ODataDateTime(text).map { .dateTime($0) }
      case .duration: value = ODataDuration(text).map { .duration($0) }
      default: break
      }
    }
    self = value ?? .cell(cell)
  }
}
