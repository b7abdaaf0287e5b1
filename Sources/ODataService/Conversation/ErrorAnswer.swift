import HTTPCore
import OData
import ODataXML

/// The service's own words in an answer that is no success.
enum ErrorAnswer {
  /// The error in the content; nil where it is in no form that OData has, such as a gateway's HTML page.
  static func payload(_ response: ODataSingleResponse) -> ODataErrorPayload? { nil }
}
