/// The names of what can go wrong in an offline store. Raw values are stable: the thousands say the category.
///
/// | numbers | category |
/// | --- | --- |
/// | 1001 … | `invalidInput` |
/// | 2001 … | `preconditionFailed` |
/// | 3001 … | `notFound` |
/// | 4001 … | `notSupported` |
/// | 5001 … | `communicationError` |
/// | 6001 … | `serverSideError` |
/// | 7001 … | `clientInternalError` |
public enum OfflineODataErrorName: Int, CaseIterable, Sendable, Hashable {
  // invalidInput
  /// A text that is no URL of OData.
  case malformedURL = 1001
  /// A URL that does not fit the model: a name, type or operator.
  case unfittingURL = 1002
  /// `$top` below 0.
  case notPositiveTop = 1003
  /// `$skip` below 0.
  case notPositiveSkip = 1004
  /// A `$skiptoken` that is none of this store, or of another question.
  case invalidSkipToken = 1005
  /// The same property twice in a key.
  case duplicateKeyProperty = 1006
  /// A key without one of its properties.
  case missingKeyProperty = 1007
  /// A value that its type cannot hold.
  case invalidValue = 1008
  /// A store name that cannot be the name of a file.
  case invalidStoreName = 1009
  /// A parameter of the store outside what it may be.
  case invalidParameter = 1010
  /// A defining query's name that is empty or has characters that are not allowed.
  case invalidDefiningQueryName = 1011
  /// A second defining query of one name.
  case duplicateDefiningQuery = 1012
  /// A defining query that the model does not have, or that brings no entities.
  case invalidDefiningQuery = 1013
  /// A service root that is no http or https URL.
  case invalidServiceRoot = 1014
  /// A question that fits the model and has no meaning: a division by zero, a pattern that is none.
  case invalidQuestion = 1015
  /// A Swift type that cannot be decoded from what was answered.
  case undecodableType = 1016
  /// A property that the entity's type does not declare.
  case unknownProperty = 1017
  /// Null for a property that cannot be null.
  case nullNotAllowed = 1018
  /// Another value for a property of the key.
  case keyChanged = 1019
  /// A value for a property that the service sets alone, or that does not change.
  case readOnlyProperty = 1020
  /// A request whose content does not fit what it does.
  case unfittingBody = 1021

  // preconditionFailed
  /// The store is not open.
  case storeNotOpen = 2001
  /// The store is open; what was asked for needs a closed one.
  case storeOpen = 2002
  /// Another download of this store is on its way, here or in another process.
  case downloadRunning = 2003
  /// Another upload of this store is on its way, here or in another process.
  case uploadRunning = 2011
  /// The file belongs to another service.
  case otherService = 2004
  /// Something else has the store's file in use.
  case storeInUse = 2005
  /// An offline store is never passive.
  case neverPassive = 2006
  /// The rows that are asked for have never come: the first download of their defining query has not ended.
  case neverDownloaded = 2007
  /// Changes are queued that the call would lose.
  case changesPending = 2008
  /// The entity is not the one that the caller's ETag is of.
  case entityChanged = 2009
  /// There is an entity with this key.
  case entityExists = 2010
  /// The store's file is encrypted with another key than the one given.
  case wrongEncryptionKey = 2012
  /// The store's file is encrypted, and no key was given.
  case encryptionKeyMissing = 2013
  /// The store's file is not encrypted, and a key was given.
  case storeNotEncrypted = 2014
  /// The store's file belongs to another user.
  case otherUser = 2015
  /// Another user's plain store is to be set aside, and no key was given to encrypt it with.
  case setAsideNeedsKey = 2016
  /// The response to a request was lost, and whether it took effect is not known yet.
  case outcomeUncertain = 2017
  /// The response to a change was lost, and a look-up found that the change took effect.
  case changeTookEffect = 2018
  /// The store is suspended, or was while this call ran.
  case storeSuspended = 2019

  // notFound
  /// There is no such entity.
  case entityNotFound = 3001
  /// There is no defining query of this name.
  case definingQueryNotFound = 3002
  /// The bytes of a media entity or stream property are not in the store.
  case mediaNotFound = 3003
  /// What the path names has no value.
  case resourceNotFound = 3004
  /// No defining query has brought what is asked for: an entity set, a link, or a property that a `$select` leaves out.
  case notDownloaded = 3005

  // notSupported
  /// A construct of the URL that the store does not answer.
  case unsupportedQuery = 4001
  /// A change that the store does not take.
  case unsupportedChange = 4003
  /// Something in the model that the store cannot keep.
  case unsupportedModel = 4004
  /// Too many defining queries over one table.
  case tooManyDefiningQueries = 4005
  /// A kind of request that an offline store does not take.
  case unsupportedRequest = 4006
  /// Something that the file, or this platform's engine, does not do.
  case unsupportedStorage = 4007
  /// Something that the service, or the transport, does not do.
  case unsupportedByService = 4008
  /// The model says that entities are not made here.
  case insertRestricted = 4009
  /// The model says that entities are not changed here.
  case updateRestricted = 4010
  /// The model says that entities are not deleted here.
  case deleteRestricted = 4011

  // communicationError
  /// The host's name has no address.
  case hostNotFound = 5001
  /// No connection could be made.
  case cannotConnect = 5002
  /// No secure connection could be made.
  case insecureConnection = 5003
  /// The service took too long.
  case timeout = 5004
  /// The connection broke before the answer was whole.
  case connectionLost = 5005
  /// The service cannot be asked now: 429, 502, 503, 504.
  case serviceUnavailable = 5006
  /// The service does not know the caller, or credentials could not be had.
  case authenticationFailed = 5007
  /// Any other failure of the transport.
  case transportFailed = 5008

  // serverSideError
  /// The service refused a request.
  case requestRefused = 6001
  /// The service failed.
  case serviceFailed = 6002
  /// The answer cannot be read.
  case malformedAnswer = 6003
  /// The metadata cannot be read.
  case malformedMetadata = 6004
  /// A link in an answer leads away from the service.
  case foreignLink = 6005
  /// The pages of an answer go in circles.
  case endlessPages = 6006
  /// An answer's text is in an encoding that is not read.
  case unreadableEncoding = 6007

  // clientInternalError
  /// The caller cancelled.
  case cancelled = 7001
  /// The disk is full.
  case diskFull = 7002
  /// The store's file is damaged.
  case storeDamaged = 7003
  /// The file is no store, or of a later version of this library.
  case foreignFile = 7004
  /// The file could not be read or written.
  case fileFailed = 7005
  /// Something that should not be possible.
  case internalFailure = 7006
  /// The file of an open store was moved or removed.
  case fileMoved = 7007
  /// The store's file may only be read.
  case storeReadOnly = 7008
}

extension OfflineODataErrorName {
  /// The kind of failure.
  public var category: OfflineODataError.Category { entry.category }

  /// What happened, without the particulars.
  public var message: String { entry.message }

  /// What to do about it; nil where that depends on the particulars.
  public var cure: String? { entry.cure }
}
