"""The noise of a training and who is in its batches: both are drawn without looking at data, and priced as one."""
