//! The MCP server: hands the calls that rmcp receives to [`Api`], and its texts back. rmcp tells the two eras of the
//! protocol apart (with and without `initialize`).
//!
//! A reply is one text without structured content: some clients would show the model only that, others both. Not
//! here: streams and processes (`stdio`), reading arguments (`requests`).

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool as ListedTool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use crate::backpressure::CallsInFlight;
use access::admitted_caller::admitted_caller;
use guard::secrets::redacted;
use requests::rights::Rights;
use requests::{Api, ApiError};
use writer::exit::Exit;

use crate::client_roots::ClientRoots;
use crate::delivery_recorder::DeliveryRecorder;
use crate::delivery_recorder::ToolQuestion;
use crate::mcp_caller::McpCaller;
use crate::schema::{ProjectKnowledge, find_tool};
use crate::server_options::{ClientNameObserver, McpOptions};
use crate::subscriptions::Subscriptions;
use crate::tool_call::ToolCall;
use access::disconnect::Disconnect;
use requests::tool::ToolSet;

/// How long a call may continue once nobody waits for its answer any more, in milliseconds.
const GRACE_MS: u64 = 500;

/// The name of the server, as clients show it: that of the program, not of this crate.
const SERVER: &str = "agent-knowledge";

/// Most characters of an unknown method's name that its error repeats.
const METHOD_CHARACTERS_MAX: usize = 64;

/// The methods that are served. rmcp hands on a request for one as an unknown one if its params do not fit.
const METHODS: [&str; 13] = [
    "completion/complete",
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The server. Copies share everything.
#[derive(Clone)]
pub struct McpServer {
    api: Arc<dyn Api>,
    tools: Arc<[ListedTool]>,
    tool_set: ToolSet,
    rights: Rights,
    /// Signals that the client has left.
    pub gone: Disconnect,
    load: CallsInFlight,
    on_client_name: ClientNameObserver,
    recorder: Option<DeliveryRecorder>,
    roots: Option<ClientRoots>,
    pushes: bool,
    /// The resources that the client subscribed to.
    pub subscriptions: Subscriptions,
}

impl McpServer {
    /// Makes a server. `gone` signals that the client has left; `load` counts the calls.
    #[must_use]
    pub fn new(api: Arc<dyn Api>, gone: Disconnect, load: CallsInFlight) -> Self {
        let tool_set = ToolSet::Usual;
        Self {
            api,
            tools: crate::schema::listed_tools(tool_set).into(),
            tool_set,
            rights: Rights::Admin,
            gone,
            load,
            on_client_name: None,
            recorder: None,
            roots: None,
            pushes: false,
            subscriptions: Subscriptions::default(),
        }
    }

    /// Sets what differs from one process to another.
    #[must_use]
    pub fn with(
        self,
        McpOptions { tool_set, on_client_name, recorder, place, pushes, rights, .. }: McpOptions,
    ) -> Self {
        let mut tools = crate::schema::listed_tools(tool_set);
        let is_allowed =
            |name: &str| find_tool(name).is_some_and(|(verb, _)| verb.rights() <= rights);
        tools.retain(|tool| is_allowed(&tool.name));
        let (tools, roots) = (tools.into(), place.map(ClientRoots::new));
        Self { tool_set, tools, rights, on_client_name, recorder, roots, pushes, ..self }
    }

    /// Waits until it is known where the client works, if it says so in time.
    async fn settle_place(&self, peer: &Peer<RoleServer>) {
        if let Some(roots) = &self.roots {
            roots.settle(peer).await;
        }
    }

    /// Returns what writes answers down, in the directory that they are for.
    fn recorder_here(&self) -> Option<DeliveryRecorder> {
        let directory = self.roots.as_ref().and_then(|roots| roots.place().directory());
        let recorder = self.recorder.clone()?;
        Some(DeliveryRecorder { directory, ..recorder })
    }

    fn report_client_name(&self, context: &RequestContext<RoleServer>) {
        if let (Some(observer), Some(name)) =
            (&self.on_client_name, McpCaller::from_context(context).name)
        {
            observer(&name);
        }
    }

    /// Calls the api on a thread that may block, and waits for the answer as long as the client is there.
    pub async fn ask<F, T>(&self, question: F) -> Result<T, ApiError>
    where
        F: FnOnce(&dyn Api) -> Result<T, ApiError> + Send + 'static,
        T: Send + 'static,
    {
        let _until_answered = self.load.add();
        let api = Arc::clone(&self.api);
        let answer = tokio::task::spawn_blocking(move || question(&*api));
        let patience = async {
            self.gone.wait().await;
            tokio::time::sleep(Duration::from_millis(GRACE_MS)).await;
        };
        tokio::select! {
            biased;
            answer = answer => answer.unwrap_or_else(|error| Err(bug(&error.to_string()))),
            () = patience => Err(bug("the client left before the answer came")),
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions();
        let capabilities =
            if self.pushes { able.enable_resources_subscribe().build() } else { able.build() };
        let server =
            Implementation::new(SERVER, env!("CARGO_PKG_VERSION")).with_title("Agent knowledge");
        let project = match &self.roots {
            None => ProjectKnowledge::OfEachCall,
            Some(roots) if roots.place().directory().is_some() => ProjectKnowledge::Known,
            Some(_) => ProjectKnowledge::Unknown,
        };
        let instructions = crate::schema::instructions(project);
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(instructions)
    }

    /// A client that offers roots has not said yet where it works.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let offers_roots = self.roots.is_some() && request.capabilities.roots.is_some();
        context.peer.set_peer_info(request.clone());
        let opened = self.negotiate_initialize(&request)?;
        Ok(match offers_roots {
            true => opened.with_instructions(crate::schema::INSTRUCTIONS),
            false => opened,
        })
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(roots) = &self.roots {
            roots.ask(&context.peer);
        }
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        if let Some(roots) = &self.roots {
            roots.ask(&context.peer);
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.report_client_name(&context);
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<ListedTool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.settle_place(&context.peer).await;
        let call = ToolCall::read(&request.name, request.arguments.unwrap_or_default());
        let who = admitted_caller(&context.extensions);
        if let Err(why) = crate::permission::check(call.verb(), call.arguments(), self.rights, who)
        {
            return Ok(CallToolResult::error(vec![ContentBlock::text(why)]).into());
        }
        let caller = McpCaller::from_context(&context);
        let names = crate::schema::tool_names(self.tool_set);
        let recorder = self.recorder_here();
        let arguments = || call.arguments().clone();
        let question = recorder
            .as_ref()
            .and_then(|_| ToolQuestion::from_arguments(&request.name, arguments()));
        let asking = caller.clone();
        let answer = self.ask(move |api| Ok(call.answer(api, &names, &asking)));
        let answer = answer.await.unwrap_or_else(|error| Err(error_message(&error)));
        if let (Ok(reply), Some(question), Some(recorder)) = (&answer, question, recorder) {
            let reply = reply.clone();
            // The answer does not wait for that.
            drop(tokio::task::spawn_blocking(move || {
                recorder.record_answer(&request.name, &question, &reply, &caller);
            }));
        }
        Ok(match answer {
            Ok(reply) => CallToolResult::success(vec![ContentBlock::text(reply.text)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(crate::resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(crate::resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.settle_place(&context.peer).await;
        if crate::resources::is_expensive(&request.uri) {
            crate::permission::charge(admitted_caller(&context.extensions)).map_err(busy_error)?;
        }
        let uri = request.uri.clone();
        let uri_json = json!({ "uri": redacted(&request.uri) });
        let read = self.ask(move |api| crate::resources::read_resource(api, &uri)).await;
        // The data names the resource that was not found.
        let read =
            read.map_err(|error| ErrorData { data: Some(uri_json), ..protocol_error(error) })?;
        let contents = ResourceContents::text(read.text, request.uri).with_mime_type(read.mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(crate::prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.settle_place(&context.peer).await;
        // Each looks at all memories of a repository.
        crate::permission::charge(admitted_caller(&context.extensions)).map_err(busy_error)?;
        let arguments = request.arguments.unwrap_or_default();
        let words = self.ask(move |api| crate::prompts::prompt_text(api, &request.name, arguments));
        let text = words.await.map_err(protocol_error)?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let completion = crate::completion::completion_request(&request).map_err(protocol_error)?;
        let values =
            self.ask(move |api| crate::completion::completion_values(api, &completion)).await;
        Ok(CompleteResult::new(values.map_err(protocol_error)?))
    }

    /// Refuses a method that MCP does not have. The name is repeated without secrets and at a bounded length.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let name: String = redacted(&request.method).chars().take(METHOD_CHARACTERS_MAX).collect();
        if METHODS.contains(&name.as_str()) {
            let message = format!("`params` do not fit {name}; the MCP schema lists its fields");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("unknown method {name:?}");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    /// Clients of the versions with `initialize` subscribe this way.
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.pushes {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        self.settle_place(&context.peer).await;
        self.subscribe_to(request.uri, context.peer).await.map_err(protocol_error)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unsubscribe_from(&request.uri);
        Ok(())
    }

    /// Accepts subscriptions to resources, and no others: the lists never change. A client that asks for more than is
    /// advertised learns so from the acknowledgement, not from an error.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        tokio::select! {
            () = context.cancelled() => {}
            () = self.look_for_listener(&uris, context.sink()) => {}
        }
        Ok(())
    }
}

/// Returns the error of a call that has to wait.
fn busy_error(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}

/// Returns the message of an error without secrets: it may repeat what was sent.
fn error_message(error: &ApiError) -> String {
    redacted(&error.to_string()).into_owned()
}

/// Turns an error into one of the protocol, where the protocol has no form for a failed answer.
#[expect(clippy::needless_pass_by_value, reason = "a step of map_err, which gives it away")]
fn protocol_error(error: ApiError) -> ErrorData {
    let message = error_message(&error);
    match error {
        ApiError::Invalid(_) => ErrorData::invalid_params(message, None),
        ApiError::NotFound(_) => ErrorData::resource_not_found(message, None),
        ApiError::Failed { .. } => ErrorData::internal_error(message, None),
    }
}

fn bug(failure: &str) -> ApiError {
    ApiError::Failed { exit: Exit::Internal, message: format!("failed to answer: {failure}") }
}
