// sequential_send_recv_same_channel: equal, equal
"builtin.module"() <{sym_name = "sequential_send_recv_same_channel"}> ({
  "func.func"() <{function_type = (tensor<2x2xi64>, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token), sym_name = "send"}> ({
  ^bb0(%arg1: tensor<2x2xi64>, %arg2: !stablehlo.token):
    %7 = "stablehlo.send"(%arg1, %arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token
    %8 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %9 = "stablehlo.send"(%8, %arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token
    "func.return"(%7, %9) : (!stablehlo.token, !stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token), sym_name = "recv"}> ({
  ^bb0(%arg0: !stablehlo.token):
    %5:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    %6:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    "func.return"(%5#0, %5#1, %6#0, %6#1) : (tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.after_all"() : () -> !stablehlo.token
    %2:6 = "interpreter.run_parallel"(%0, %1, %1) {programs = [[@send], [@recv]]} : (tensor<2x2xi64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token)
    %3 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %4 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%2#2, %2#4, %3, %4) : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// paralllel_send_recv_different_channels: equal, equal
"builtin.module"() <{sym_name = "paralllel_send_recv_different_channels"}> ({
  "func.func"() <{function_type = (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token, sym_name = "send0"}> ({
  ^bb0(%arg4: tensor<2x2xi64>, %arg5: !stablehlo.token):
    %9 = "stablehlo.send"(%arg4, %arg5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token
    "func.return"(%9) : (!stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token, sym_name = "send1"}> ({
  ^bb0(%arg2: tensor<2x2xi64>, %arg3: !stablehlo.token):
    %8 = "stablehlo.send"(%arg2, %arg3) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 2>, is_host_transfer = true}> : (tensor<2x2xi64>, !stablehlo.token) -> !stablehlo.token
    "func.return"(%8) : (!stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token), sym_name = "recv0"}> ({
  ^bb0(%arg1: !stablehlo.token):
    %7:2 = "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    "func.return"(%7#0, %7#1) : (tensor<2x2xi64>, !stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token), sym_name = "recv1"}> ({
  ^bb0(%arg0: !stablehlo.token):
    %6:2 = "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    "func.return"(%6#0, %6#1) : (tensor<2x2xi64>, !stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %2 = "stablehlo.after_all"() : () -> !stablehlo.token
    %3:6 = "interpreter.run_parallel"(%0, %2, %2, %1, %2, %2) {programs = [[@send0], [@recv0], [@send1], [@recv1]]} : (tensor<2x2xi64>, !stablehlo.token, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, tensor<2x2xi64>, !stablehlo.token, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token)
    %4 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %5 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%3#1, %3#4, %4, %5) : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
