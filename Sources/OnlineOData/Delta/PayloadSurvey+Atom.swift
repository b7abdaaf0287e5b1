import OData
import ODataXML

extension PayloadSurvey {
  /// Surveys an XML document: a feed that names a delta is read whole, all else is looked at from its ends.
  static func atom(_ bytes: [UInt8]) -> PayloadSurvey {
    guard bytes.firstRange(of: Array("delta".utf8)) != nil || isEmptyFeed(bytes) else {
      return PayloadSurvey(format: .xml, isWhole: endsLikeXML(bytes))
    }
    guard let payload = try? ODataPayload(atom: bytes) else {
      // Another vocabulary that the reader does not know; or cut off.
      return PayloadSurvey(format: .xml, isWhole: endsLikeXML(bytes))
    }
    let isEmpty =
      switch payload {
      case .collection(let collection): collection.entities.isEmpty
      case .delta(let delta): delta.items.isEmpty
      default: false
      }
    return PayloadSurvey(
      format: .xml, isWhole: true, deltaLink: payload.nextLink == nil ? payload.deltaLink : nil,
      isEmptyDelta: isEmpty && payload.nextLink == nil)
  }

  /// A cheap first look: without the word there is no entry and no tombstone.
  private static func isEmptyFeed(_ bytes: [UInt8]) -> Bool {
    bytes.count < 1 << 16 && bytes.firstRange(of: Array("entry".utf8)) == nil
  }

  private static func endsLikeXML(_ bytes: [UInt8]) -> Bool {
    // The last byte of UTF-16 may be zero.
    let last = bytes.last { $0 > 0x20 }
    return last == UInt8(ascii: ">")
  }
}
