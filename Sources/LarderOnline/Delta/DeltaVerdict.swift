import LarderHTTP
import LarderService

/// What the response to a delta link says about the cached response. Its payload is used for nothing else.
enum DeltaVerdict: Sendable, Equatable {
  /// Nothing changed, certainly: the cached response equals the server's. Holds the next delta link, if one is given.
  case unchanged(deltaLink: String?)
  /// Something changed, or the form of the response cannot prove that nothing did: one complete read follows.
  case readAgain
  /// The link has expired: it is removed, and one complete read follows.
  case expired

  /// Judges a response with a status of 2xx, or 304.
  init(_ response: ODataSingleResponse) {
    guard !response.sender.isOtherOrigin else {
      self = .readAgain
      return
    }
    if response.httpStatus == 304 || response.isNotModified {
      self = .unchanged(deltaLink: nil)
      return
    }
    guard response.httpStatus == 200, !response.payloadBytes.isEmpty else {
      self = .readAgain
      return
    }
    let survey = PayloadSurvey(response.payloadBytes, contentType: response.fields[.contentType])
    self = survey.isWhole && survey.isEmptyDelta ? .unchanged(deltaLink: survey.deltaLink) : .readAgain
  }

  /// Judges a rejection; nil if the failure is the request's own (network, credentials, overload). The end of a redirect and
  /// a web page say nothing about the link.
  init?(_ failure: ODataServiceError) {
    switch failure.httpStatus {
    case 304 where failure.isOfRequestedURL: self = .unchanged(deltaLink: nil)
    case let status? where status >= 300 && !failure.isOfRequestedURL: self = .readAgain
    case 404 where failure.response?.isWebPage == true, 410 where failure.response?.isWebPage == true: self = .readAgain
    case 400, 404, 405, 406, 409, 410, 412, 415, 422, 500, 501: self = .expired
    default: return nil
    }
  }
}
